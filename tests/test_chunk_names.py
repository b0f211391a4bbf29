"""Names of chunks, in every edition and both presets: faults are counted by kind; there are none."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from chunkers.model import cut as cutting
from chunkers.model.chunk import Chunk
from chunkers.model.cut import Cutter, Sizes
from chunkers.model.finish import finish
from chunkers.model.presets import pieces_for
from manuals.library.editions import Library
from manuals.model.headings import full_name
from manuals.model.sections import Manual, Section

_WORDS = re.compile(r"\w+|[^\w\s]")
_FURNITURE = re.compile(r"║|\bPage \d+ of \d+|\.{3,}|…|\n|\s\s|[\ufffd\ue000-\uf8ff]|\s\|\s")
_GUIDELINE = re.compile(r"\d[A-Z]\d+\.\d+")
_OPEN_END = re.compile(r"[,;—:]$|\b(?:and|or|the|of|that|in|be|to)$")
_TWICE = re.compile(r"(?<!\w)(\w[\w'-]{2,}(?: [\w'-]+)*) \1(?!\w)", re.IGNORECASE)


class _WordIndex:
    """Words in place of word pieces: the check needs no tokenizer, and any sizes show faults."""

    def __init__(self, text: str, encoder: str = "") -> None:
        self._starts = [found.start() for found in _WORDS.finditer(text)]

    def count(self, span: tuple[int, int]) -> int:
        return bisect.bisect_left(self._starts, span[1]) - bisect.bisect_left(self._starts, span[0])


def faults(manual: Manual, chunk: Chunk) -> Iterator[str]:
    """The kinds of what is wrong with a chunk's citation and title."""
    section = manual.by_key[chunk.key]
    low, high = chunk.text_span
    high = low + len(manual.text[low:high].rstrip())
    several = chunk.citation != section.citation
    if (low < high and high > section.span[1]) != several:
        yield "cites another stretch than it holds"
    if several and not chunk.title.endswith(f"({chunk.citation})"):
        yield "titled by one of several"
    titles = " ".join(each.title for each in (*manual.ancestors(section), section))
    title = chunk.title.removesuffix(f" ({chunk.citation})")
    if not set(_GUIDELINE.findall(title)) <= set(_GUIDELINE.findall(titles)):
        yield "titled by another guideline"
    if _FURNITURE.search(chunk.title) or _FURNITURE.search(chunk.citation):
        yield "furniture or a table's row in the title"
    name = full_name(chunk.citation, chunk.title)
    if not several and _TWICE.search(name) and not _TWICE.search(titles):
        yield "says a word twice"
    if chunk.source == "ussg" and _OPEN_END.search(title):
        yield "a broken sentence as title"
    if not chunk.citation or (not chunk.title and not _untitled(section)):
        yield "no name"


def _untitled(section: Section) -> bool:
    return section.kind in ("notes", "footnotes", "front-matter", "back-matter")


def is_sentence(title: str) -> bool:
    """Whether words in small letters make up most of a title."""
    words = re.findall(r"[^\W\d_]{5,}", title)
    return sum(word.islower() for word in words) > len(words) / 2 or bool(_OPEN_END.search(title))


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("If the degree of injury is between that", True),
        ("The court shall order a term of probation", True),
        ("In any other case,", True),
        ("Base Offense Level (Apply the greatest)", False),
        ("Use of Policy Statement in Effect on Date of Reduction", False),
    ],
)
def test_sentences_are_told_from_titles(title: str, sentence: bool) -> None:
    assert is_sentence(title) == sentence


def _chunks(manual: Manual, preset: str) -> list[Chunk]:
    rule = pieces_for(preset, manual.source)
    pieces = rule(manual, Cutter(manual.text, Sizes())) if preset == "sections" else rule(manual)
    return finish(manual, pieces, lambda texts: [0] * len(texts))


@pytest.mark.real
def test_every_chunk_of_every_edition_has_its_name(
    real_library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "TokenIndex", _WordIndex)
    monkeypatch.setattr(
        cutting, "count_tokens", lambda texts, encoder="": [len(_WORDS.findall(t)) for t in texts]
    )
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    seen = 0
    for edition in real_library.editions:
        manual = real_library.manual(edition.source, edition.year)
        if "║" in manual.text:
            found["furniture in the text"] += 1
        for preset in ("paper", "sections"):
            for chunk in _chunks(manual, preset):
                seen += 1
                for kind in faults(manual, chunk):
                    found[kind] += 1
                    examples.setdefault(kind, f"{preset} {chunk.id}: {chunk.title[:80]}")
        for section in manual.sections:
            if section.source == "ussg" and section.title and is_sentence(section.title):
                found["a sentence as title"] += 1
                examples.setdefault("a sentence as title", f"{section.key}: {section.title[:80]}")
    assert dict(found) == {}, examples
    assert seen > 100_000
