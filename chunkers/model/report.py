"""Chunk counts of a folder of manuals beside the paper's (arXiv 2609.13005) and our reference.

The paper's indexes hold other editions than a given folder may. For each of its rows the report
says which editions are missing; counts that the same rules gave on other official editions show
whether the rules still hold.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chunkers.model.cut import Sizes
from chunkers.model.presets import chunk_manual
from manuals.library.editions import Library
from manuals.model.sections import Edition
from manuals.model.source import SOURCES, ChunkCounts, check_source
from manuals.model.years import format_years
from tam.errors import ManualError, UnknownYear
from tam.models import DEFAULT_ENCODER
from tam.progress import progress
from tam.settings import PRESETS, preset_name
from tam.tables import columns


class Count(NamedTuple):
    """The chunks of one edition; sizes in tokens of the encoder."""

    source: str
    year: int
    chunks: int
    median: int
    longest: int

    @property
    def expected(self) -> tuple[int, int] | None:
        """What the paper's rules gave elsewhere on the official edition of this year."""
        counts = SOURCES[self.source].counts
        return counts.measured.get(self.year) if counts else None

    @property
    def agrees(self) -> bool | None:
        """Whether the count is as expected; ``None`` where there is nothing to compare with."""
        expected = self.expected
        return None if expected is None else expected[0] <= self.chunks <= expected[1]


class Compared(NamedTuple):
    """One row of the paper and what is here of it."""

    source: str
    published: ChunkCounts
    chunks: int
    missing: tuple[int, ...]


class Report(NamedTuple):
    """Counts by edition, the preset they were cut by, and lines about what failed.

    ``sources`` are those that were asked for; rows of the paper for others are left out.
    """

    preset: str
    counts: tuple[Count, ...]
    problems: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def compared(self, source: str, published: ChunkCounts) -> Compared:
        """Our chunks of the editions of one row of the paper, and the years that are missing."""
        here = {count.year: count.chunks for count in self.counts if count.source == source}
        stands_for = dict(published.same_as)
        years = {year: stands_for.get(year, year) for year in published.years}
        return Compared(
            source,
            published,
            sum(here[year] for year in years.values() if year in here),
            tuple(year for year, of in years.items() if of not in here),
        )


def select_editions(
    library: Library, sources: Sequence[str] = (), years: Sequence[int] = ()
) -> tuple[Edition, ...]:
    """The editions of these sources and years; of all where none is given.

    Raises ``BadOption`` for a source that we do not know and ``UnknownYear`` when nothing is left.
    """
    for source in sources:
        check_source(source)
    chosen = tuple(
        edition
        for edition in library.editions
        if (not sources or edition.source in sources) and (not years or edition.year in years)
    )
    if not chosen:
        here = ", ".join(edition.name for edition in library.editions)
        raise UnknownYear(f"no edition here is of that source and year; here are: {here}")
    return chosen


def count_chunks(
    library: Library,
    sources: Sequence[str] = (),
    years: Sequence[int] = (),
    preset: str = PRESETS[0],
    sizes: Sizes | None = None,
    encoder: str = DEFAULT_ENCODER,
) -> Report:
    """Chunk the editions of these sources and years and count.

    An edition that cannot be parsed becomes a problem line. Raises as ``select_editions``.
    """
    editions = select_editions(library, sources, years)
    counts: list[Count] = []
    problems: list[str] = []
    for edition in progress(editions, "chunking", len(editions), "editions"):
        try:
            manual = library.manual(edition.source, edition.year, keep=False)
        except ManualError as error:
            problems.append(str(error))
            continue
        tokens = [chunk.tokens for chunk in chunk_manual(manual, preset, sizes, encoder)]
        counts.append(
            Count(
                edition.source,
                edition.year,
                len(tokens),
                int(statistics.median_low(tokens)) if tokens else 0,
                max(tokens, default=0),
            )
        )
    return Report(preset_name(preset), tuple(counts), tuple(problems), tuple(sources))


def format_counts(report: Report) -> str:
    """Editions with their numbers of chunks and sizes, as an aligned table."""
    head = ("source", "edition", "chunks", "median", "longest")
    rows = [
        (c.source, str(c.year), f"{c.chunks:,}", f"{c.median:,}", f"{c.longest:,}")
        for c in report.counts
    ]
    total = sum(count.chunks for count in report.counts)
    rows.append(("total", "", f"{total:,}", "", ""))
    table = columns((head, *rows), right=(2, 3, 4))
    return f"Chunks by preset {report.preset}; sizes in tokens\n\n{table}"


def format_report(report: Report, official: bool = True) -> str:
    """The counts, beside the reference for these editions, then the paper's rows and totals.

    ``official`` is false for the bundled sample, whose editions only bear the years of real ones.
    """
    parts = [format_counts(report)]
    if report.preset != PRESETS[0]:
        parts.append(
            f"The paper's numbers hold for preset {PRESETS[0]}; "
            f"those of preset {report.preset} differ by design."
        )
    elif official and any(count.expected for count in report.counts):
        parts.append("Official editions that these rules were measured on\n\n" + _measured(report))
    parts.append("The paper's indexes (arXiv 2609.13005)\n\n" + _paper(report))
    parts.extend(_remarks(report))
    return "\n\n".join(parts)


def _measured(report: Report) -> str:
    rows = []
    for count in report.counts:
        if count.expected is None:
            continue
        low, high = count.expected
        wanted = f"{low:,}" if low == high else f"{low:,}-{high:,}"
        verdict = "as measured" if count.agrees else "DIFFERS"
        rows.append((count.source, str(count.year), f"{count.chunks:,}", wanted, verdict))
    return columns((("source", "edition", "ours", "reference", ""), *rows), right=(2, 3))


def _published() -> dict[tuple[str, int], list[tuple[str, ChunkCounts]]]:
    """The paper's indexes, by name and size, with their rows by source."""
    indexes: dict[tuple[str, int], list[tuple[str, ChunkCounts]]] = {}
    for name, source in SOURCES.items():
        if source.counts is not None:
            key = source.counts.index, source.counts.index_chunks
            indexes.setdefault(key, []).append((name, source.counts))
    return indexes


def _paper(report: Report) -> str:
    rows: list[tuple[str, ...]] = []
    for (name, chunks), own in _published().items():
        compared = [report.compared(*row) for row in own if _wanted(report, row[0])]
        for row in compared:
            rows.append(
                (
                    SOURCES[row.source].title,
                    format_years(row.published.years),
                    f"{row.chunks:,}" if len(row.missing) < len(row.published.years) else "-",
                    f"{row.published.chunks:,}",
                    _verdict(row, report.preset),
                )
            )
        if len(compared) < len(own):
            continue
        ours = sum(row.chunks for row in compared)
        whole = not any(row.missing for row in compared)
        rows.append(
            (f"{name} total", "", f"{ours:,}" if ours else "-", f"{chunks:,}",
             "" if whole else "editions are missing")
        )  # fmt: skip
    return columns((("source", "editions", "ours", "paper", ""), *rows), right=(2, 3))


def _verdict(row: Compared, preset: str) -> str:
    if row.missing:
        return f"missing: {row.source} {format_years(row.missing)}"
    if preset != PRESETS[0]:
        return ""
    return "equal" if row.chunks == row.published.chunks else "DIFFERS"


def _wanted(report: Report, source: str) -> bool:
    return not report.sources or source in report.sources


def _remarks(report: Report) -> Iterator[str]:
    for (name, chunks), own in _published().items():
        total = sum(row.chunks for _, row in own)
        if total != chunks and all(_wanted(report, source) for source, _ in own):
            yield (
                f"The paper's {name} rows add up to {total:,}; it states {chunks:,} "
                f"({chunks - total:+,})."
            )
        for source, row in own:
            for year, of in row.same_as if _wanted(report, source) else ():
                yield f"There is no {source} manual of {year}: that of {of} stayed in force."
    if report.problems:
        yield "problems\n" + "\n".join(f"  {line}" for line in report.problems)
