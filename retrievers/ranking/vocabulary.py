"""People's words in the manuals' own: abbreviations and lay words, read from open data files.

A source names a table of them (``Source.vocabulary``: tab-separated ``term``, ``expansion``,
``kind``; alternatives in an expansion are parted by ``|``). The expansions of the terms that a
query holds are added to it; the text of chunks is never touched. An abbreviation is matched in
its own letters (``MI``, not ``mi``), a lay word by its stems, the longest first.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from indexers.legs.tokenise import Tokeniser, TokenOptions
from manuals.model.source import SOURCES

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

Words = tuple[str, ...]


class Vocabulary(NamedTuple):
    """Terms, by their words, with their expansions."""

    exact: Mapping[Words, tuple[str, ...]]
    stems: Mapping[Words, tuple[str, ...]]

    @property
    def longest(self) -> int:
        return max(map(len, (*self.exact, *self.stems)), default=0)

    def expansions(self, text: str) -> tuple[str, ...]:
        """What the terms of a text are called in the manuals, in order, each once."""
        return tuple(dict.fromkeys(self._found(text)))

    def _found(self, text: str) -> Iterator[str]:
        words = _WORD.findall(text)
        stems = [_stem(word) for word in words]
        at = 0
        while at < len(words):
            for size in range(min(self.longest, len(words) - at), 0, -1):
                exact = self.exact.get(tuple(words[at : at + size]))
                found = exact or self.stems.get(tuple(stems[at : at + size]))
                if found:
                    yield from found
                    at += size
                    break
            else:
                at += 1


@lru_cache(maxsize=1)
def _tokeniser() -> Tokeniser:
    return Tokeniser(TokenOptions(stopwords="none"))


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    terms = _tokeniser().terms(word)
    return terms[0] if terms else word.lower()


@lru_cache(maxsize=16)
def _read(path: Path) -> Vocabulary:
    exact: dict[Words, tuple[str, ...]] = {}
    stems: dict[Words, tuple[str, ...]] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            words = _WORD.findall(row["term"])
            found = tuple(each.strip() for each in row["expansion"].split("|") if each.strip())
            if row["kind"] == "abbreviation":
                exact[tuple(words)] = found
            else:
                stems[tuple(map(_stem, words))] = found
    return Vocabulary(exact, stems)


def expanded(text: str, sources: Iterable[str]) -> str:
    """The text with the expansions, in the words of these sources, at its end."""
    paths = dict.fromkeys(SOURCES[name].vocabulary for name in sources)
    added = dict.fromkeys(
        expansion
        for path in paths
        if path is not None
        for expansion in _read(path).expansions(text)
    )
    return f"{text}; {'; '.join(added)}" if added else text
