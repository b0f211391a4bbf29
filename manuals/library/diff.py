"""What changed in one section between two editions, word by word.

Paragraphs that stand in both editions are set aside; of the others, those that are alike are
paired in order and compared word by word (``difflib``), the rest are new or gone.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from manuals.library.standing import amendments_between
from manuals.model.amendments import Amendment
from manuals.model.sections import Manual, Section

Operation = Literal["same", "removed", "added"]

#: share of words in common (difflib's ratio) from which two paragraphs are one that changed
ALIKE = 0.5
#: words shown on each side of a change when the unchanged stretch is long
AROUND = 14

# A word, a subdivision such as (g), or a punctuation mark, with the white space that follows.
_WORD = re.compile(r"(?:\w+(?:['’.,–-]\w+)*|\([0-9A-Za-z]{1,5}\)|[^\w\s])\s*")
_ENUMERATORS = re.compile(r"\[?(?:\([^()\s]{1,8}\)\s?)+")
_RED, _GREEN, _BOLD, _DIM, _PLAIN = "\x1b[9;31m", "\x1b[32m", "\x1b[1m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Change:
    """One paragraph that changed, is new (no ``removed``) or is gone (no ``added``).

    ``key`` is the innermost section that holds it: in the newer edition, or in the older one when
    it is gone. ``words`` are stretches of text in reading order: without the added ones they give the
    old paragraph, without the removed ones the new one (white space as in the newer).
    """

    kind: Literal["changed", "new", "gone"]
    key: str
    words: tuple[tuple[Operation, str], ...]

    @property
    def before(self) -> str:
        return "".join(text for operation, text in self.words if operation != "added").strip()

    @property
    def after(self) -> str:
        return "".join(text for operation, text in self.words if operation != "removed").strip()


@dataclass(frozen=True, slots=True)
class Difference:
    """A section in two editions: its heading, the two years, the changes in document order, and
    the amendments that the newer edition names and the older does not."""

    heading: str
    before: int
    after: int
    changes: tuple[Change, ...]
    amendments: tuple[Amendment, ...] = ()


@dataclass(frozen=True, slots=True)
class _Paragraph:
    key: str
    text: tuple[str, ...]
    words: tuple[str, ...]


def diff_sections(a: Manual, first: Section, b: Manual, second: Section) -> Difference:
    """Compare ``first`` of edition ``a`` with ``second`` of edition ``b``, all below included.

    White space does not count, nor do line ends inside a paragraph.
    """
    old, new = _paragraphs(a, first), _paragraphs(b, second)
    changes: list[Change] = []
    matcher = SequenceMatcher(
        None, [each.words for each in old], [each.words for each in new], autojunk=False
    )
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation != "equal":
            changes.extend(_compared(old[i1:i2], new[j1:j2]))
    older, newer = sorted((a, b), key=lambda manual: manual.edition.effective_from)
    laws = amendments_between(older, newer, second.key if newer is b else first.key)
    return Difference(second.heading, a.year, b.year, tuple(changes), laws)


def _paragraphs(manual: Manual, section: Section) -> list[_Paragraph]:
    """Paragraphs (or lines, in a text without empty lines) with the key that each stands under."""
    text = manual.subtree_text(section)
    parted = r"\n[ \t]*\n" if re.search(r"\S\s*\n[ \t]*\n", text) else r"\n"
    below = sorted(manual.subtree(section), key=lambda each: (each.span[0], -each.span[1]))
    starts = [each.span[0] for each in below]
    found: list[_Paragraph] = []
    offset = section.span[0]
    for piece in re.split(f"({parted})", text):
        words = tuple(re.sub(r"\s+", " ", word) for word in _WORD.findall(piece))
        if words:
            at = offset + len(piece) - len(piece.lstrip())
            key = _innermost(below, starts, at + _lead(piece.lstrip(), at, starts))
            found.append(_Paragraph(key, words, tuple(word.rstrip() for word in words)))
        offset += len(piece)
    return found


def _lead(piece: str, at: int, starts: Sequence[int]) -> int:
    """How far into a paragraph its innermost unit begins: ``(a)(1) Whoever`` is of (a)(1)."""
    end = 0
    for start in starts[bisect.bisect_right(starts, at) :]:
        if start - at >= len(piece) or not _ENUMERATORS.fullmatch(piece, 0, start - at):
            break
        end = start - at
    return end


def _innermost(below: Sequence[Section], starts: Sequence[int], offset: int) -> str:
    for section in reversed(below[: bisect.bisect_right(starts, offset)]):
        if section.span[1] > offset:
            return section.key
    return below[0].key


def _compared(old: Sequence[_Paragraph], new: Sequence[_Paragraph]) -> Iterator[Change]:
    """Changes of a stretch that differs: pairs that are alike, in order, and what is between."""
    i = j = 0
    for pair_i, pair_j in (*_pairs(old, new), (len(old), len(new))):
        for gone in old[i:pair_i]:
            yield Change("gone", gone.key, (("removed", "".join(gone.text).strip()),))
        for added in new[j:pair_j]:
            yield Change("new", added.key, (("added", "".join(added.text).strip()),))
        if pair_i < len(old) and pair_j < len(new):
            yield Change("changed", new[pair_j].key, _words(old[pair_i], new[pair_j]))
        i, j = pair_i + 1, pair_j + 1


def _pairs(old: Sequence[_Paragraph], new: Sequence[_Paragraph]) -> list[tuple[int, int]]:
    """The pairing in order with the greatest sum of likenesses (dynamic programming)."""
    likeness = [[_likeness(a.words, b.words) for b in new] for a in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], likeness[i][j] + best[i + 1][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(a: Sequence[str], b: Sequence[str]) -> float:
    """difflib's ratio of two paragraphs' words; 0 when they are not alike."""
    if 2 * min(len(a), len(b)) < ALIKE * (len(a) + len(b)):
        return 0.0
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.quick_ratio() < ALIKE:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= ALIKE else 0.0


def _words(old: _Paragraph, new: _Paragraph) -> tuple[tuple[Operation, str], ...]:
    stretches: list[tuple[Operation, str]] = []
    matcher = SequenceMatcher(None, old.words, new.words, autojunk=False)
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation == "equal":
            stretches.append(("same", "".join(new.text[j1:j2])))
        else:
            stretches.append(("removed", "".join(old.text[i1:i2])))
            stretches.append(("added", "".join(new.text[j1:j2])))
    return tuple((name, text) for name, text in stretches if text)


def render_diff(difference: Difference, colour: bool = False) -> str:
    """The changes for people: ``[-gone-]{+new+}``, or struck red and green with ``colour``.

    Only paragraphs that changed are shown, each under its key.
    """
    title = f"{difference.heading}: {difference.before} -> {difference.after}"
    if not difference.changes:
        return f"{title}\nno change"
    kinds = [change.kind for change in difference.changes]
    counts = ", ".join(
        f"{kinds.count(kind)} {name}"
        for kind, name in (("changed", "changed"), ("new", "new"), ("gone", "gone"))
        if kind in kinds
    )
    lines = [_styled(title, _BOLD, colour), f"paragraphs: {counts}"]
    lines += map(str, difference.amendments)
    for change in difference.changes:
        mark = "" if change.kind == "changed" else f" ({change.kind})"
        lines += ["", _styled(f"{change.key}{mark}", _BOLD, colour), f"  {_line(change, colour)}"]
    return "\n".join(lines)


def _line(change: Change, colour: bool) -> str:
    shown: list[str] = []
    last = len(change.words) - 1
    for place, (operation, text) in enumerate(change.words):
        blank = " " if text.endswith(" ") else ""
        if operation == "same":
            shown.append(_elided(text, first=place == 0, last=place == last, colour=colour))
        elif colour:
            style = _RED if operation == "removed" else _GREEN
            shown.append(_styled(text.rstrip(), style, colour) + blank)
        else:
            opening, closing = ("[-", "-]") if operation == "removed" else ("{+", "+}")
            shown.append(f"{opening}{text.rstrip()}{closing}{blank}")
    return "".join(shown).rstrip()


def _elided(text: str, first: bool, last: bool, colour: bool) -> str:
    """An unchanged stretch, its middle (or far end) left out when it is long."""
    words = re.findall(r"\S+\s*", text)
    # The beginning of a paragraph says which one it is.
    before, after = (AROUND // 2 if first else AROUND), (0 if last else AROUND)
    if len(words) <= before + after + AROUND:
        return text
    dots = _styled("…", _DIM, colour)
    return "".join(
        [*words[:before], dots, " " if after else "", *words[len(words) - after :][:after]]
    )


def _styled(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{_PLAIN}" if colour else text
