"""Expanding what is indexed for a chunk with the manuals' own synonyms (``expand_documents``).

Clinicians write ``AIDS`` and ``water on the lungs``; the manuals hold such words elsewhere:

- **index paths**: a chunk is indexed with the path of each index entry that leads to one of its
  codes, where an index's source says that it expands another (Alphabetic and External Cause
  Index: the Tabular List);
- **abbreviations**: where a manual of the same corpus and year writes ``acquired immune deficiency
  syndrome [AIDS]``, every chunk that holds the long form is indexed with the short one too, and
  the other way round.

Only the terms of BM25 grow: a chunk's text, its vectors and what a search shows stay as they are.
The manifest says so (``expanded_with``), because an index that holds index paths holds the queries
of the set ``index-to-tabular``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from chunkers.model.chunk import Chunk
from indexers.building.pointers.general import pointers_of
from indexers.folder.table import ChunkTable
from manuals.library.editions import Library
from manuals.model.sections import Manual
from manuals.model.source import SOURCES

#: what the manifest of an expanded index names
EXPANDED_WITH = ("index_path", "abbreviations")

_SHORT = re.compile(r"[(\[](?P<short>[A-Z][A-Za-z0-9&/-]{1,9})[)\]]")
_WORD = re.compile(r"[^\W_]+(?:[-'/][^\W_]+)*")
_STOP = re.compile(r"[.;:|\n()\[\]]")
#: words before a bracket that can belong to a long form
_REACH = 12


def expansions(library: Library, table: ChunkTable, chunks: Sequence[Chunk]) -> list[str]:
    """For each row the text to index after its own; empty for most."""
    added: list[list[str]] = [[] for _ in chunks]
    for row, path in _index_paths(library, table):
        added[row].append(path)
    for row, words in _abbreviations(library, table, chunks):
        added[row].append(words)
    return ["\n".join(dict.fromkeys(lines)) for lines in added]


def _index_paths(library: Library, table: ChunkTable) -> Iterator[tuple[int, str]]:
    here = {(edition.source, edition.year) for edition in table.editions}
    for edition in table.editions:
        expanded = SOURCES[edition.source].expands
        if (expanded, edition.year) not in here:
            continue
        manual = library.manual(expanded, edition.year)
        held = table.rows_by_key(expanded, edition.year)

        def others(source: str, manual: Manual = manual) -> Manual | None:
            return manual if source == manual.source else None

        for pointer in pointers_of(library.manual(edition.source, edition.year), others):
            if pointer.kind == "index_entry_to_code":
                for target in pointer.targets:
                    for row in held.get(target.key, ()):
                        yield row, pointer.words


def _abbreviations(
    library: Library, table: ChunkTable, chunks: Sequence[Chunk]
) -> Iterator[tuple[int, str]]:
    by_year: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    for edition in table.editions:
        manual = library.manual(edition.source, edition.year)
        by_year[edition.year].update(short_forms(manual.text))
    for year, counted in by_year.items():
        finder = _Finder(list(counted))
        for edition in table.editions:
            if edition.year == year:
                for row in range(edition.start, edition.stop):
                    for words in finder.missing(chunks[row].text):
                        yield row, words


class _Finder:
    """Finds long and short forms in texts."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._long: dict[str, set[str]] = defaultdict(set)
        self._short: dict[str, set[str]] = defaultdict(set)
        self._first: dict[str, set[int]] = defaultdict(set)
        for long, short in pairs:
            self._long[long].add(short)
            self._short[short].add(long)
            words = long.split()
            self._first[words[0]].add(len(words))

    def missing(self, text: str) -> list[str]:
        """The other form of each form that a text holds, where the text has it not."""
        words = _WORD.findall(text)
        here = set(words)
        lower = [word.lower() for word in words]
        found: set[str] = set()
        for at, word in enumerate(lower):
            for length in self._first.get(word, ()):
                short = self._long.get(" ".join(lower[at : at + length]), set())
                found.update(short - here)
        whole = " ".join(lower)
        for word in here & self._short.keys():
            # A short form with several meanings says nothing.
            if len(self._short[word]) == 1:
                found.update(long for long in self._short[word] if long not in whole)
        return sorted(found)


def short_forms(text: str) -> Counter[tuple[str, str]]:
    """``(long form in lower case, short form)`` of each ``term (ABBR)`` or ``term [ABBR]``.

    The algorithm of Schwartz and Hearst, "A simple algorithm for identifying abbreviation
    definitions in biomedical text", PSB 2003: the letters of the short form stand in the words
    before it, in their order, the first one at the beginning of a word. Stricter than there, the
    short form has two capitals and each of its letters begins a word or follows in one.
    """
    found: Counter[tuple[str, str]] = Counter()
    for bracket in _SHORT.finditer(text):
        short = bracket["short"]
        if sum(char.isupper() for char in short) < 2:
            continue
        before = _STOP.split(text[max(0, bracket.start() - 150) : bracket.start()])[-1]
        words = _WORD.findall(before)[-_REACH:]
        long = _long_form([word.lower() for word in words], short.lower())
        if long:
            found[long, short] += 1
    return found


def _long_form(words: Sequence[str], short: str) -> str:
    """The shortest run of the last words that spells the short form by its initials."""
    letters = [char for char in short if char.isalnum()]
    limit = min(len(letters) + 5, len(letters) * 2)
    for count in range(1, min(len(words), limit) + 1):
        run = words[-count:]
        if run[0][0] == letters[0] and _spells(run, letters):
            return " ".join(run) if len(run) > 1 else ""
    return ""


def _spells(words: Sequence[str], letters: Sequence[str]) -> bool:
    """Whether the letters stand in the words in order, from the right, as in the paper."""
    text = " ".join(words)
    at = len(text)
    for place in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= 0 and (
            text[at] != letters[place] or (place == 0 and at > 0 and text[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return False
    return True
