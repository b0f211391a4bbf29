"""Chunk counts of a folder of manuals beside the paper's (arXiv 2609.13005) and our reference.

The paper's indexes hold other editions than a given folder may. For each of its rows the report
says which editions are missing; counts that the same rules gave on other official editions show
whether the rules still hold.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from chunkers.model.cut import Sizes
from chunkers.model.presets import DEFAULT_PRESET, chunk_manual
from manuals.library.editions import Library
from manuals.model.sections import SOURCE_TITLES, Edition
from tam.errors import BadOption, ManualError, UnknownYear
from tam.models import DEFAULT_ENCODER
from tam.progress import progress
from tam.tables import columns


class Published(NamedTuple):
    """A row of the paper: one source, its editions together, and their number of chunks.

    ``same_as`` are years without a manual of their own and the year whose manual was in force.
    """

    source: str
    years: tuple[int, ...]
    chunks: int
    same_as: tuple[tuple[int, int], ...] = ()


class PublishedTotal(NamedTuple):
    """What the paper gives as the size of one index."""

    name: str
    rows: tuple[Published, ...]
    chunks: int


_FIVE_YEARS = (2021, 2022, 2023, 2024, 2025)
PAPER = (
    PublishedTotal(
        "ICD-10-CM",
        (
            Published("guidelines", (2019,), 126),
            Published("tabular", (2019,), 2255),
            Published("index", (2019,), 14457),
        ),
        17138,
    ),
    PublishedTotal(
        "legal",
        (
            Published("title18", _FIVE_YEARS, 6824),
            # There is no Guidelines Manual of 2022: that of 2021 stayed in force.
            Published("ussg", _FIVE_YEARS, 6267, same_as=((2022, 2021),)),
        ),
        13091,
    ),
)

#: (source, year) -> lowest and highest count that the paper's rules gave on the official edition
MEASURED: Mapping[tuple[str, int], tuple[int, int]] = MappingProxyType(
    {
        ("guidelines", 2025): (132, 132),
        ("tabular", 2021): (2256, 2256),
        ("tabular", 2025): (2311, 2311),
        ("index", 2025): (15151, 15151),
        ("title18", 2021): (1358, 1358),
        ("title18", 2022): (1366, 1366),
        ("title18", 2023): (1366, 1366),
        ("title18", 2024): (1367, 1367),
        ("title18", 2025): (1367, 1367),
        # Depends on the reader: this rule starts a chunk at every page top.
        ("ussg", 2016): (1370, 1395),
        ("ussg", 2025): (1255, 1275),
    }
)


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
        return MEASURED.get((self.source, self.year))

    @property
    def agrees(self) -> bool | None:
        """Whether the count is as expected; ``None`` where there is nothing to compare with."""
        expected = self.expected
        return None if expected is None else expected[0] <= self.chunks <= expected[1]


class Compared(NamedTuple):
    """One row of the paper and what is here of it."""

    published: Published
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

    def compared(self, published: Published) -> Compared:
        """Our chunks of the editions of one row of the paper, and the years that are missing."""
        here = {
            count.year: count.chunks for count in self.counts if count.source == published.source
        }
        stands_for = dict(published.same_as)
        years = {year: stands_for.get(year, year) for year in published.years}
        return Compared(
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
        if source not in SOURCE_TITLES:
            raise BadOption(f"no source {source!r}; sources are {', '.join(SOURCE_TITLES)}")
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
    preset: str = DEFAULT_PRESET,
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
    return Report(preset, tuple(counts), tuple(problems), tuple(sources))


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
    if report.preset != DEFAULT_PRESET:
        parts.append(
            f"The paper's numbers hold for preset {DEFAULT_PRESET}; "
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


def _paper(report: Report) -> str:
    rows: list[tuple[str, ...]] = []
    for total in PAPER:
        compared = [report.compared(row) for row in total.rows if _wanted(report, row)]
        for row in compared:
            rows.append(
                (
                    SOURCE_TITLES[row.published.source],
                    _years(row.published.years),
                    f"{row.chunks:,}" if len(row.missing) < len(row.published.years) else "-",
                    f"{row.published.chunks:,}",
                    _verdict(row, report.preset),
                )
            )
        if len(compared) < len(total.rows):
            continue
        ours = sum(row.chunks for row in compared)
        whole = not any(row.missing for row in compared)
        rows.append(
            (f"{total.name} total", "", f"{ours:,}" if ours else "-", f"{total.chunks:,}",
             "" if whole else "editions are missing")
        )  # fmt: skip
    return columns((("source", "editions", "ours", "paper", ""), *rows), right=(2, 3))


def _verdict(row: Compared, preset: str) -> str:
    if row.missing:
        return f"missing: {row.published.source} {_years(row.missing)}"
    if preset != DEFAULT_PRESET:
        return ""
    return "equal" if row.chunks == row.published.chunks else "DIFFERS"


def _wanted(report: Report, row: Published) -> bool:
    return not report.sources or row.source in report.sources


def _remarks(report: Report) -> Iterator[str]:
    for total in PAPER:
        rows = sum(row.chunks for row in total.rows)
        if rows != total.chunks and all(_wanted(report, row) for row in total.rows):
            yield (
                f"The paper's {total.name} rows add up to {rows:,}; it states {total.chunks:,} "
                f"({total.chunks - rows:+,})."
            )
        for row in total.rows:
            for year, of in row.same_as if _wanted(report, row) else ():
                yield f"There is no {row.source} manual of {year}: that of {of} stayed in force."
    if report.problems:
        yield "problems\n" + "\n".join(f"  {line}" for line in report.problems)


def _years(years: Sequence[int]) -> str:
    """``(2021, 2022, 2023, 2025)`` -> ``2021-2023, 2025``."""
    runs: list[list[int]] = []
    for year in years:
        if runs and year == runs[-1][-1] + 1:
            runs[-1].append(year)
        else:
            runs.append([year])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
