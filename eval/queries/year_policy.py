"""Which edition of each manual a case is measured on, when its year has none or is not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from tam.errors import BadOption

#: policy -> what it does; the first is the default
POLICIES: Mapping[str, str] = MappingProxyType(
    {
        "exact": "the edition of the case's year or none",
        "nearest": "the edition whose year is nearest, of two equally near the earlier",
        "in-force": "the newest edition of the case's year or an earlier one, "
        "as a manual stays in force until the next (a year is no day: the edition of a year can "
        "hold law made late in it, which only a filter by date keeps out)",
        "latest": "the case's year, else (no such edition, or no year) the newest edition",
    }
)


def choose_year(year_policy: str, years: Sequence[int], year: int | None) -> int | None:
    """The year of the edition to use among ``years``; ``None`` when the policy gives none.

    Only ``latest`` has an answer for a case without a year. Raises ``BadOption``.
    """
    if year_policy not in POLICIES:
        raise BadOption(
            f"year policy {year_policy!r} is not known; choose from {', '.join(POLICIES)}"
        )
    if not years:
        return None
    if year in years:
        return year
    if year_policy == "latest":
        return max(years)
    if year_policy == "exact" or year is None:
        return None
    if year_policy == "nearest":
        return min(years, key=lambda other: (abs(other - year), other))
    return max((other for other in years if other <= year), default=None)


def choose_editions(
    editions: Iterable[tuple[str, int]],
    year: int | None,
    year_policy: str = "exact",
    sources: Iterable[str] | None = None,
) -> dict[str, int]:
    """Source -> year of the edition to search for a case; sources without one are left out.

    ``editions`` are pairs of source and year in the order in which sources are to come.
    """
    years: dict[str, list[int]] = {}
    for source, edition_year in editions:
        years.setdefault(source, []).append(edition_year)
    wanted = None if sources is None else set(sources)
    chosen = {
        source: choose_year(year_policy, its_years, year)
        for source, its_years in years.items()
        if wanted is None or source in wanted
    }
    return {source: found for source, found in chosen.items() if found is not None}
