"""Seven browsing tools over Title 18, Appendix A and the Guidelines Manual."""

from __future__ import annotations

import re

from eval.systems.tools.paging import Part, opened, paged, stretch
from eval.systems.tools.rendering import head, listing, not_exact
from eval.systems.tools.search import search_tools
from eval.systems.tools.tool import CaseEditions, ToolResult, failure, tool
from manuals.model.keys import parse_reference
from manuals.model.sections import Manual, Section
from tam.errors import BadReference


@tool()
def list_title18_chapters(editions: CaseEditions, page: int = 1) -> ToolResult:
    """List the parts and chapters of Title 18."""
    manual = editions.manual("title18")
    groups = [s for s in manual.sections if s.kind in ("part", "chapter")]
    return ToolResult(paged(listing(groups), page, "list_title18_chapters()"))


@tool(lister="list_title18_chapters")
def open_title18_chapter(editions: CaseEditions, chapter: str, page: int = 1) -> ToolResult:
    """Open a chapter of Title 18: the list of its sections.

    chapter: its number, such as "44" or "113B".
    """
    manual = editions.manual("title18")
    number = re.sub(r"(?i)^.*\b(?:chapter|ch\.?)\s*", "", chapter.strip()).upper()
    section = manual.by_key.get(f"18 U.S.C. Chapter {number}")
    if section is None:
        return failure(f"Title 18 has no chapter {chapter!r}.", "Call list_title18_chapters.")
    rows = [s for s in manual.subtree(section) if re.fullmatch(r"18 U\.S\.C\. § [^ (]+", s.key)]
    again = f'open_title18_chapter(chapter="{number}")'
    parts: list[Part] = [(head(manual, section), [(0, section)]), listing(rows)]
    return opened(manual, parts, page, again)


@tool(lister="list_title18_chapters")
def open_statute_section(editions: CaseEditions, citation: str, page: int = 1) -> ToolResult:
    """Open one section or subsection of Title 18 (the statute itself, without its notes).

    citation: such as "18 U.S.C. § 924" or "18 USC 922(g)(1)".
    """
    manual = editions.manual("title18")
    other = _other_title(citation)
    if other:
        return failure(
            f"only Title 18 is here, not {other}.",
            f'Its guideline stands in search_appendix_a(statute="{other}").',
        )
    found = editions.library.look_up(citation, manual.year, "title18")
    again = f'open_statute_section(citation="{found.section.key}")'
    text = stretch(manual, found.section, _statute_end(manual, found.section))
    return opened(manual, [*not_exact(found), head(manual, found.section), text], page, again)


def _other_title(citation: str) -> str:
    """The key of a statute of another title than 18, else nothing."""
    try:
        reference = parse_reference(citation)
    except BadReference:
        return ""
    other = reference.kind == "statute" and not reference.key.startswith("18 U.S.C.")
    return reference.key if other else ""


def _statute_end(manual: Manual, section: Section) -> int:
    """Where the section's own text ends: at its first note."""
    notes = (
        child.span[0]
        for child in manual.children(section)
        if child.kind in ("notes", "note") or child.key.endswith(" Notes")
    )
    return min(notes, default=section.span[1])


@tool()
def search_appendix_a(editions: CaseEditions, statute: str, page: int = 1) -> ToolResult:
    """Retrieval a statute up in Appendix A: the guideline sections that apply to it.

    statute: such as "18 U.S.C. § 924(c)", "21 USC 841" or "8 U.S.C. § 1326". Rows for the whole
    section and for all its subsections are returned, with their conditions.
    """
    manual = editions.manual("ussg")
    try:
        reference = parse_reference(statute)
    except BadReference:
        reference = None
    if reference is None or reference.kind not in ("statute", "appendix_a"):
        return failure(
            f"{statute!r} does not read as a statute.",
            'Give one such as statute="18 U.S.C. § 1344".',
        )
    unit = reference.key.removeprefix("Appendix A > ")
    rows = [s for s in manual.sections if appendix_row_matches(s.key, unit)]
    if not rows:
        return failure(
            f"Appendix A of {manual.year} has no row for {unit}.",
            "It may not list every offense: see §2X5.1, or search for a related statute.",
        )
    text = f"Appendix A, {manual.year} manual"
    marks = []
    for row in rows:
        targets = [
            f"{ref.target} ({ref.condition})" if ref.condition else ref.target
            for ref in row.refs
            if ref.kind == "guideline"
        ]
        marks.append((len(text) + 1, row))
        text += f"\n{row.key.removeprefix('Appendix A > ')}: {', '.join(targets)}"
    again = f'search_appendix_a(statute="{unit}")'
    return opened(manual, [(text, marks)], page, again)


def appendix_row_matches(key: str, unit: str) -> bool:
    """Whether an Appendix A key is that of the statute section ``unit`` or of a part of it."""
    if not key.startswith("Appendix A > "):
        return False
    row = key.removeprefix("Appendix A > ")
    # 18 U.S.C. § 924 and 924(c), never 9241
    return row == unit or (row.startswith(unit) and row[len(unit)] in "(,# ")


@tool(lister="list_ussg_contents")
def list_ussg_contents(editions: CaseEditions, under: str = "", page: int = 1) -> ToolResult:
    """List the contents of the Guidelines Manual: chapters and parts, or the guidelines of one.

    under: such as "Chapter 2" or "Chapter 3, Part D"; empty for chapters and parts.
    """
    manual = editions.manual("ussg")
    if not under.strip():
        rows = [s for s in manual.sections if s.kind in GROUPS]
        return ToolResult(paged(listing(rows), page, "list_ussg_contents()"))
    section = _group(editions, manual, under)
    if isinstance(section, ToolResult):
        return section
    rows = [s for s in manual.subtree(section) if s.kind in GROUPS or s.kind == "guideline"]
    again = f'list_ussg_contents(under="{section.key}")'
    return ToolResult(paged(listing(rows), page, again))


GROUPS = ("chapter", "part", "subpart", "appendix")


def _group(editions: CaseEditions, manual: Manual, under: str) -> Section | ToolResult:
    typed = under.strip()
    if not typed.upper().startswith(("USSG", "APPENDIX")):
        typed = f"USSG {typed}"
    try:
        found = editions.library.look_up(typed, manual.year, "ussg")
    except BadReference:
        return failure(
            f"{under!r} is no chapter or part of the manual.",
            'Give one such as "Chapter 2, Part K", or call list_ussg_contents().',
        )
    return found.section


@tool(lister="list_ussg_contents")
def open_ussg_subheading(editions: CaseEditions, heading: str, page: int = 1) -> ToolResult:
    """Open one chapter, part or subheading of the Guidelines Manual: its own text (introductory
    commentary, tables), not the guidelines below it.

    heading: such as "Chapter 3, Part D", "§2K2.1 Application Notes", "§1B1.1 Application Note 1"
    or "Chapter 5, Part A" (the sentencing table).
    """
    manual = editions.manual("ussg")
    typed = heading.strip()
    parts: list[Part] = []
    if re.match(r"(?i)(ussg\s+)?(chapter|ch\.)", typed):
        group = _group(editions, manual, typed)
        if isinstance(group, ToolResult):
            return group
        section = group
        parts = [(head(manual, section), [(0, section)]), manual.own_text(section)]
        below = []
        for child in manual.children(section):
            if child.kind in (*GROUPS, "guideline"):
                below.append(child)
            else:
                parts.append(stretch(manual, child))
        if below:
            parts.append("Below it:\n" + listing(below))
    else:
        found = editions.library.look_up(typed, manual.year, "ussg")
        section = found.section
        parts = [*not_exact(found), head(manual, section), stretch(manual, section)]
    return opened(manual, parts, page, f'open_ussg_subheading(heading="{section.key}")')


@tool(lister="list_ussg_contents")
def open_guideline(editions: CaseEditions, guideline: str, page: int = 1) -> ToolResult:
    """Open one guideline with its commentary (the historical note is left out).

    guideline: such as "2K2.1" or "§3E1.1".
    """
    manual = editions.manual("ussg")
    found = editions.library.look_up(guideline, manual.year, "ussg")
    section = found.section
    histories = [
        child.span[0]
        for child in manual.children(section)
        if child.key.endswith(" Historical Note")
    ]
    text = stretch(manual, section, min(histories, default=section.span[1]))
    again = f'open_guideline(guideline="{section.key}")'
    return opened(manual, [*not_exact(found), head(manual, section), text], page, again)


TOOLS = (
    list_title18_chapters,
    open_title18_chapter,
    open_statute_section,
    search_appendix_a,
    list_ussg_contents,
    open_ussg_subheading,
    open_guideline,
    *search_tools(
        "legal",
        ("title18", "ussg"),
        "Title 18 and the Guidelines Manual",
        "one statute, guideline or adjustment",
        "abuse of a position of trust",
    ),
)
