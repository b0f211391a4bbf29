"""A tool's text in pages, and which sections each page shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eval.queries.trec import section_id
from eval.systems.tools.tool import ToolResult
from manuals.model.sections import Manual, Section
from tam.errors import BadOption

#: characters of one page, about 2,000 tokens
PAGE_CHARACTERS = 8000

#: where in a text a section begins
Mark = tuple[int, Section]
#: a stretch of a tool's text, plain or with the sections that begin in it
Part = str | tuple[str, Sequence[Mark]]


def seen(manual: Manual, *sections: Section) -> tuple[str, ...]:
    """The names under which a run records the sections that were shown."""
    return tuple(section_id(manual.source, manual.year, section.key) for section in sections)


def opened(manual: Manual, parts: Iterable[Part], page: int, again: str) -> ToolResult:
    """One page of a text put together of parts, with the sections that begin on it.

    A part with marks says where in it sections begin. ``again`` is as for ``paged``.
    """
    text = ""
    marks: list[Mark] = []
    for part in parts:
        words, own = (part, ()) if isinstance(part, str) else part
        if not words.strip():
            continue
        text += "\n\n" if text else ""
        marks += [(len(text) + at, section) for at, section in own]
        text += words
    start, end = _pages(text)[page - 1] if 1 <= page <= len(_pages(text)) else (0, 0)
    shown = [section for at, section in marks if start <= at < end]
    return ToolResult(paged(text, page, again), seen(manual, *shown))


def stretch(manual: Manual, section: Section, end: int | None = None) -> tuple[str, list[Mark]]:
    """The manual's text of a section with what is below it, up to ``end``, and its marks."""
    first, last = section.span
    last = last if end is None else end
    raw = manual.text[first:last]
    lead = len(raw) - len(raw.lstrip())
    marks = [(max(s.span[0] - first - lead, 0), s) for s in manual.subtree(section)]
    return raw.strip(), [(at, s) for at, s in marks if s.span[0] < last]


def paged(text: str, page: int, again: str) -> str:
    """One page of a long text, cut at line ends, with how to get the next.

    ``again`` names the call for the next page, without its page number. Raises ``BadOption`` for
    a page that there is not.
    """
    pages = _pages(text)
    if not 1 <= page <= len(pages):
        raise BadOption(f"there is no page {page}; pages are 1 to {len(pages)}")
    start, end = pages[page - 1]
    shown = text[start:end].rstrip("\n")
    if len(pages) == 1:
        return shown
    more = f"; for more call {again} with page={page + 1}" if page < len(pages) else ""
    return f"{shown}\n[page {page} of {len(pages)}{more}]"


def _pages(text: str) -> list[tuple[int, int]]:
    """Where each page begins and ends: at line ends, in a longer line at a blank."""
    pages: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > PAGE_CHARACTERS:
        end = text.rfind("\n", start, start + PAGE_CHARACTERS) + 1
        if end <= start:
            end = text.rfind(" ", start, start + PAGE_CHARACTERS) + 1
        if end <= start:
            end = start + PAGE_CHARACTERS
        pages.append((start, end))
        start = end
    return [*pages, (start, len(text))]
