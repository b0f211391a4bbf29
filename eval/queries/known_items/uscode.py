"""Known items of Title 18: headings, alone and as printed."""

from __future__ import annotations

from collections.abc import Iterator

from eval.golds.gold import DIRECT
from eval.queries.known_items.sets import VERSION, Candidate, Dropped, KnownItems, heading_set
from manuals.library.editions import Library
from manuals.model.sections import Section


def sets() -> tuple[KnownItems, ...]:
    """Headings to sections in this year's edition."""
    return (
        heading_set(
            "title18-heading",
            "Heading of a section of Title 18 to that section in the right year.",
            "title18",
            "title18_heading",
            in_force,
        ),
        KnownItems(
            "title18-printed-heading",
            "Heading with its number, as printed, to that section in the right year.",
            ("title18",),
            title18_printed,
            "given",
            DIRECT,
            "title18_heading",
            repeats_gold_text=True,
        ),
    )


def in_force(section: Section) -> bool:
    """Whether a section of Title 18 is not repealed, transferred or reserved."""
    return section.kind == "section" and bool(section.title)


def title18_printed(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """Each section heading with the section sign and number, as printed: ``§ 924. Penalties``."""
    for section in filter(in_force, library.manual("title18", year).sections):
        number = VERSION.sub("", section.key).removeprefix("18 U.S.C. ")
        yield Candidate(f"{number}. {section.title}", (section,))
