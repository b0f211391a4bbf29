"""Eight browsing tools over the ICD-10-CM manuals, as a coder uses the editions."""

from __future__ import annotations

from eval.systems.tools.paging import Part, opened, paged, stretch
from eval.systems.tools.rendering import entries, head, listing, not_exact, note_lines
from eval.systems.tools.search import search_tools
from eval.systems.tools.tool import CaseEditions, ToolResult, failure, tool
from manuals.icd10cm.code_view import CodeView, look_up_code
from manuals.model.sections import Manual, Section
from tam.errors import BadReference, UnknownKey, UnknownYear

#: the index and the tables that are looked up like it, in the order in which they are searched
INDEXES = ("index", "eindex", "drugs", "neoplasm")


def _indexes(editions: CaseEditions) -> list[Manual]:
    """The index manuals that there are for the case's year."""
    found = [editions.manual(source) for source in INDEXES if source in editions.years]
    if not found:
        raise UnknownYear("there is no Alphabetic Index for this year")
    return found


@tool()
def list_index_terms(editions: CaseEditions, prefix: str, page: int = 1) -> ToolResult:
    """List the main terms of the Alphabetic Index that begin with a letter or prefix.

    The External Cause Index, the Table of Drugs and the Neoplasm Table are listed too.
    prefix: one letter, or the first letters of a term, such as "Abs".
    """
    wanted = prefix.strip().casefold()
    if not wanted:
        return failure("the prefix is empty.", 'Give a letter or more, such as prefix="Abs".')
    blocks = []
    for manual in _indexes(editions):
        terms = [s for s in _main_terms(manual) if s.title.casefold().startswith(wanted)]
        if terms:
            names = "\n".join(
                section.key + ("" if not manual.children(section) else "  (has subterms)")
                for section in terms
            )
            blocks.append(f"{manual.edition.title or manual.source}:\n{names}")
    if not blocks:
        near = _near_terms(editions, wanted[:3])
        hint = f"Nearest: {', '.join(near)}. " if near else ""
        return failure(
            f"no main term begins with {prefix!r}.",
            f"{hint}Call list_index_terms with a shorter prefix or a synonym.",
        )
    again = f'list_index_terms(prefix="{prefix.strip()[:40]}")'
    return ToolResult(paged("\n\n".join(blocks), page, again))


def _main_terms(manual: Manual) -> list[Section]:
    return [child for root in manual.roots for child in manual.children(root)] or list(manual.roots)


def _near_terms(editions: CaseEditions, wanted: str) -> list[str]:
    return [
        section.key
        for manual in _indexes(editions)
        for section in _main_terms(manual)
        if section.title.casefold().startswith(wanted)
    ][:10]


@tool(lister="list_index_terms")
def open_index_entry(editions: CaseEditions, entry: str, page: int = 1) -> ToolResult:
    """Open one entry of the Alphabetic Index (or of its tables) with all entries below it.

    entry: a main term such as "Abscess", or a path such as "Abscess > brain".
    Codes behind an arrow are candidates: open each in the Tabular List before using it. A code
    that ends in "-" needs more characters.
    """
    problem: UnknownKey | None = None
    for manual in _indexes(editions):
        try:
            section = _entry(editions, manual, entry)
        except UnknownKey as error:
            problem = problem or error
            continue
        again = f'open_index_entry(entry="{section.key}")'
        return opened(manual, [head(manual, section), entries(manual, section)], page, again)
    first = entry.replace(",", " ").split()[:1]
    names = _near_terms(editions, first[0].casefold()) if first else []
    names = names or list(problem.nearest if problem else ())
    near = f"Nearest: {', '.join(names)}. " if names else ""
    return failure(
        f"the index has no entry {entry!r}.",
        f'{near}Call list_index_terms(prefix="{entry.strip()[:3]}") to see the main terms.',
    )


def _entry(editions: CaseEditions, manual: Manual, entry: str) -> Section:
    typed = entry.strip()
    exact = manual.by_key.get(typed)
    if exact is not None:
        return exact
    try:
        found = editions.library.look_up(typed, manual.year, manual.source)
    except BadReference as error:
        raise UnknownKey(str(error)) from error
    if not found.exact:
        raise UnknownKey(f"no entry {typed!r}", nearest=(found.section.key,))
    return found.section


@tool()
def list_tabular_chapters(editions: CaseEditions) -> ToolResult:
    """List the chapters of the Tabular List with their titles."""
    manual = editions.manual("tabular")
    chapters = [section for section in manual.sections if section.kind == "chapter"]
    return ToolResult(listing(chapters))


@tool(lister="list_tabular_chapters")
def open_tabular_chapter(editions: CaseEditions, chapter: int, page: int = 1) -> ToolResult:
    """Open a chapter of the Tabular List: its notes and its blocks.

    chapter: 1 to 22.
    """
    manual = editions.manual("tabular")
    section = manual.by_key.get(f"Chapter {chapter}")
    if section is None:
        return failure(f"there is no chapter {chapter}.", "Call list_tabular_chapters.")
    return _opened_group(manual, section, page, f"open_tabular_chapter(chapter={chapter})")


@tool(lister="list_tabular_chapters")
def open_tabular_block(editions: CaseEditions, block: str, page: int = 1) -> ToolResult:
    """Open a block of the Tabular List: its notes and its categories.

    block: the range of its categories, such as "E08-E13".
    """
    manual = editions.manual("tabular")
    wanted = block.strip().upper().replace("–", "-").replace(" ", "")
    section = manual.by_key.get(wanted)
    if section is None or section.kind in ("category", "code"):
        return failure(
            f"there is no block {block!r}.",
            "Call open_tabular_chapter to see the blocks of a chapter, or open_tabular_code for "
            "one code.",
        )
    return _opened_group(manual, section, page, f'open_tabular_block(block="{section.key}")')


def _opened_group(manual: Manual, section: Section, page: int, again: str) -> ToolResult:
    parts = [head(manual, section)]
    notes = note_lines((note.kind, note.text) for note in section.notes)
    if notes:
        parts.append("\n".join(notes))
    below = manual.children(section)
    if below:
        parts.append(listing(below))
    return opened(manual, [(parts[0], [(0, section)]), *parts[1:]], page, again)


@tool(lister="list_tabular_chapters")
def open_tabular_code(editions: CaseEditions, code: str, page: int = 1) -> ToolResult:
    """Open one code of the Tabular List: whether it can be reported, its own and inherited notes,
    the codes above and below it, and its seventh characters.

    code: with or without the dot, such as "E11.22" or "S72.002A".
    """
    manual = editions.manual("tabular")
    try:
        view = look_up_code(manual, code)
    except (UnknownKey, BadReference) as error:
        near = ", ".join(getattr(error, "nearest", ())[:5])
        return failure(
            f"{code!r} is not a code of fiscal year {manual.year}.",
            (f"Nearest: {near}. " if near else "") + "Open its category or look in the index.",
        )
    again = f'open_tabular_code(code="{view.code}")'
    return opened(manual, [(render_code(manual, view), [(0, view.section)])], page, again)


def render_code(manual: Manual, view: CodeView) -> str:
    """A code's view as text: validity first, then notes from the code outwards, then its kin."""
    parts = [
        "\n".join(
            [
                f"{view.code} {view.title}",
                f"key: {view.section.key}  (Tabular List, fiscal year {manual.year})",
                "in: " + " / ".join(view.section.path),
                _validity(view),
            ]
        )
    ]
    by_place: dict[str, list[tuple[str, str]]] = {}
    for binding in view.notes:
        by_place.setdefault(binding.section.key, []).append((binding.note.kind, binding.note.text))
    notes: list[str] = []
    for place in reversed(list(by_place)):
        notes += note_lines(by_place[place], "" if place == view.section.key else place)
    if notes:
        parts.append("\n".join(notes))
    if view.children:
        parts.append("Below it:\n" + listing(view.children))
    return "\n\n".join(parts)


def _validity(view: CodeView) -> str:
    if view.valid:
        return "valid: yes, it can be reported as it is"
    if view.children:
        said = "valid: no, use one of the codes below it"
    else:
        return "valid: no, it needs a seventh character: " + "; ".join(
            f"{code} ({meaning})"
            for code, (_, meaning) in zip(view.complete, view.sevenths, strict=True)
        )
    if view.sevenths:
        said += "; these take a seventh character: " + ", ".join(
            f"{character} {meaning}" for character, meaning in view.sevenths
        )
    return said


@tool(lister="list_guideline_contents")
def list_guideline_contents(editions: CaseEditions, under: str = "", page: int = 1) -> ToolResult:
    """List the contents of the Official Guidelines, two levels below a section.

    under: a section number such as "I.C.4"; empty for the whole book's upper levels.
    """
    manual = editions.manual("guidelines")
    if not under.strip():
        tops = [s for root in manual.roots for s in (root, *manual.children(root))]
        return ToolResult(paged(listing(tops), page, "list_guideline_contents()"))
    section = editions.library.look_up(under.strip(), manual.year, "guidelines").section
    rows = [below for below in manual.subtree(section) if below.level <= section.level + 2]
    again = f'list_guideline_contents(under="{section.key}")'
    return ToolResult(paged(listing(rows), page, again))


@tool(lister="list_guideline_contents")
def open_guideline_section(editions: CaseEditions, section: str, page: int = 1) -> ToolResult:
    """Open one section of the Official Guidelines with all that stands below it.

    section: its number, such as "I.C.9.a" or "II.A".
    """
    manual = editions.manual("guidelines")
    found = editions.library.look_up(section.strip(), manual.year, "guidelines")
    again = f'open_guideline_section(section="{found.section.key}")'
    parts: list[Part] = [
        *not_exact(found),
        head(manual, found.section),
        stretch(manual, found.section),
    ]
    return opened(manual, parts, page, again)


def show_section(manual: Manual, section: Section) -> str:
    """A section as the oracle's prompt shows it: a code with all that it inherits, an index entry
    with its codes, a guideline with what is below it."""
    if manual.source == "tabular" and section.kind in ("category", "code"):
        return render_code(manual, look_up_code(manual, section.key))
    if manual.source in INDEXES:
        return entries(manual, section)[0]
    return manual.subtree_text(section)


TOOLS = (
    list_index_terms,
    open_index_entry,
    list_tabular_chapters,
    open_tabular_chapter,
    open_tabular_block,
    open_tabular_code,
    list_guideline_contents,
    open_guideline_section,
    *search_tools(
        "icd",
        ("guidelines", "tabular", *INDEXES),
        "the ICD-10-CM manuals",
        "one diagnosis, code family or rule",
        "acute kidney failure with tubular necrosis",
    ),
)
