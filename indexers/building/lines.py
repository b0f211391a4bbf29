"""Lines: the short units of a chunk, indexed one by one beside the chunk.

A chunk of preset ``tam`` holds a whole category, up to 12,000 characters; a query is about one line
of it. So each line is a passage of its own, and a chunk scores by its best one (MaxP: Dai and
Callan, SIGIR 2019):

| source | a line |
|---|---|
| `tabular` | a code's title and inclusion terms (excluded conditions are left out) |
| `index`, `eindex`, `drugs`, `neoplasm` | an entry's path with all its words |
| others | the chunk's title; a paragraph of its body |

Lines are indexed by character n-grams (McNamee and Mayfield, Information Retrieval 7, 2004), which
tie ``galactosuria`` to ``galactose``, and, with an encoder, by a vector each.

| file in `lines/` | what |
|---|---|
| `starts.npy` | where each chunk's lines begin |
| `grams/` | BM25 over the n-grams of each line |
| `dense/` | the lines' vectors; absent without an encoder |
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chunkers.model.chunk import JOINT, Chunk
from indexers.legs.bm25 import Bm25, Floats, QueryRule, build_bm25
from indexers.legs.dense import DenseRows
from indexers.legs.tokenise import TokenOptions
from manuals.model.sections import Manual, Section
from tam.errors import BadIndex

#: the folder of lines in an index folder
LINES = "lines"
#: length of the character n-grams
GRAMS = 4
#: characters of a line that are read: an encoder's window holds no more of such a text
LONGEST = 600
#: a paragraph of fewer words says too little to stand alone
LEAST_WORDS = 4
#: lines are of one length, more or less: terms repeat by chance
K1, B = 0.9, 0.4

_INDEXES = frozenset({"index", "eindex", "drugs", "neoplasm"})
_TERMS = frozenset({"inclusionTerm", "includes"})

GRAM_OPTIONS = TokenOptions(stemmer="none", grams=GRAMS)


def lines_of(manual: Manual, chunks: Sequence[Chunk]) -> list[list[str]]:
    """The lines of each chunk of one edition, in order; never none for a chunk."""
    if manual.source == "tabular" or manual.source in _INDEXES:
        sections = sorted(manual.sections, key=lambda section: section.span[0])
        starts = [section.span[0] for section in sections]
        return [
            [
                _line(section)
                for section in sections[
                    bisect.bisect_left(starts, chunk.text_span[0]) : bisect.bisect_left(
                        starts, chunk.text_span[1]
                    )
                ]
            ]
            or [_name(chunk)]
            for chunk in chunks
        ]
    return [[_name(chunk), *_paragraphs(chunk)] for chunk in chunks]


def _line(section: Section) -> str:
    terms = (note.text for note in section.notes if note.kind in _TERMS)
    title = section.heading if section.source in _INDEXES else section.title
    return "; ".join((title or section.citation, *terms))[:LONGEST]


def _paragraphs(chunk: Chunk) -> list[str]:
    body = chunk.text.removeprefix(chunk.context + JOINT) if chunk.context else chunk.text
    lines = (line.strip() for line in body.split("\n"))
    return [line[:LONGEST] for line in lines if len(line.split()) >= LEAST_WORDS]


def _name(chunk: Chunk) -> str:
    return (chunk.title or chunk.citation or chunk.text.strip() or chunk.key)[:LONGEST]


def build_lines(folder: Path, lines: Sequence[Sequence[str]], blocks: Sequence[int]) -> None:
    """Write `starts.npy` and `grams/` for the lines of all chunks.

    ``blocks`` are the rows at which editions begin, with the number of rows at the end.
    """
    starts = np.concatenate([[0], np.cumsum([len(of_chunk) for of_chunk in lines])])
    flat = [line for of_chunk in lines for line in of_chunk]
    begins = starts[np.asarray(blocks)].tolist()
    build_bm25(flat, begins, folder / "grams", GRAM_OPTIONS, k1=K1, b=B)
    np.save(folder / "starts.npy", starts.astype(np.int64), allow_pickle=False)


class LineRows:
    """The opened lines of an index. Raises ``BadIndex`` when a file is missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.starts: npt.NDArray[np.int64] = np.load(folder / "starts.npy", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise BadIndex(f"{folder}: damaged ({error}); build the index again") from error

    @cached_property
    def grams(self) -> Bm25:
        """BM25 over the n-grams of the lines."""
        return Bm25(self.folder / "grams", GRAM_OPTIONS)

    @cached_property
    def dense(self) -> DenseRows:
        """The lines' vectors, by chunk."""
        return DenseRows(self.folder / "dense")

    def gram_scores(self, query: str, rows: Sequence[slice], rule: QueryRule) -> Floats:
        """The best line's score of each chunk of the slices, one slice after the other."""
        parts = [slice(int(self.starts[r.start]), int(self.starts[r.stop])) for r in rows]
        scores = self.grams.scores(query, parts, rule)
        begins: list[npt.NDArray[np.int64]] = []
        at = 0
        for part, chunk_rows in zip(parts, rows, strict=True):
            begins.append(self.starts[chunk_rows] - part.start + at)
            at += part.stop - part.start
        if not at:
            return scores
        best: Floats = np.maximum.reduceat(scores, np.concatenate(begins))
        return best
