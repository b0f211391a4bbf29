"""Preset ``tam``: one chunk for each section of Title 18, without its notes.

The body runs from the section head to the next heading of any kind, so that source credits are in
it and notes (which begin with a heading) are not; a section without a body is dropped. A text over
12,000 characters is cut between its blocks (head lines, paragraphs), packed in order: as in the
paper, only the first part begins with the head lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from chunkers.model.chunk import JOINT, Piece
from chunkers.model.finish import slugify
from chunkers.model.layout import LIMIT, chunk_text
from manuals.model.sections import Manual, Section
from manuals.uscode.tree import PARAGRAPH

_GROUPS = {"part": "Part", "chapter": "Chapter"}
#: the head of files that have none (the GPO's files of single parts)
TITLE_HEAD = "TITLE 18—CRIMES AND CRIMINAL PROCEDURE"
_CONTAINERS = ("title", "part", "chapter", "subchapter")


def pieces(manual: Manual) -> Iterator[Piece]:
    """One piece for each section with a body, in document order; parts are numbered."""
    for section in manual.sections:
        if section.citation.startswith("18 U.S.C. §") and _is_unit(manual, section):
            yield from _section(manual, section)


def _is_unit(manual: Manual, section: Section) -> bool:
    """Whether the section is one of the code (``§ 922``) and not a part of one."""
    if section.kind in _CONTAINERS:
        return False
    return section.parent is None or manual.by_key[section.parent].kind in _CONTAINERS


def head_line(manual: Manual, section: Section) -> str:
    """The heading as printed: the first paragraph of the section's span."""
    end = manual.text.find(PARAGRAPH, *section.span)
    return manual.text[section.span[0] : end if end >= 0 else section.span[1]]


def body_span(manual: Manual, section: Section) -> tuple[int, int]:
    """From after the heading to the next heading of any kind; empty when nothing is there."""
    start = section.span[0] + len(head_line(manual, section))
    notes = [child for child in manual.children(section) if child.kind == "notes"]
    end = _first_heading(manual, notes[0]) if notes else section.span[1]
    body = manual.text[start:end]
    start += len(body) - len(body.lstrip())
    return start, max(start, end - (len(body) - len(body.rstrip())))


def _first_heading(manual: Manual, notes: Section) -> int:
    """Where the first heading of the notes stands: an older note may begin with its table."""
    inner = manual.children(notes)
    if not inner or inner[0].span[0] > notes.span[0]:
        return notes.span[0]
    head = manual.text[inner[0].span[0] : inner[0].span[1]].split(PARAGRAPH)[0]
    if " | " not in head:
        return notes.span[0]
    starts = [start for start, _ in manual.own_spans(notes)]
    starts += [note.span[0] for note in inner[1:]]
    return min(starts, default=notes.span[1])


def _section(manual: Manual, section: Section) -> Iterator[Piece]:
    span = body_span(manual, section)
    if span[0] == span[1]:
        return
    lines = {"Document": manual.meta.get("title") or TITLE_HEAD}
    for above in manual.ancestors(section):
        if above.kind in _GROUPS:
            lines[_GROUPS[above.kind]] = head_line(manual, above)
    lines["Section"] = head_line(manual, section)
    context = "\n".join(f"{name}: {text}" for name, text in lines.items())
    parts = _packed(manual, span, len(context))
    for number, part in enumerate(parts, start=1):
        lead = context if number == 1 else ""
        body = manual.text[part[0] : part[1]]
        yield Piece(
            slug=slugify(section.key) + (f"/{number}" if len(parts) > 1 else ""),
            kind=section.kind,
            section=section,
            span=part,
            context=lead,
            text=chunk_text(lead, body),
            part=(number, len(parts)) if len(parts) > 1 else None,
        )


def _packed(manual: Manual, span: tuple[int, int], context: int) -> list[tuple[int, int]]:
    """The body whole when it fits; else its paragraphs packed in order."""
    if context + len(JOINT) + span[1] - span[0] <= LIMIT:
        return [span]
    parts: list[tuple[int, int]] = []
    start = end = span[0]
    room = LIMIT - context - len(JOINT)  # the first part begins with the head lines
    while end < span[1]:
        stop = manual.text.find(PARAGRAPH, end + len(PARAGRAPH), span[1])
        stop = span[1] if stop < 0 else stop
        if stop - start > room and end > start:
            parts.append((start, end))
            start = end + len(PARAGRAPH)
            room = LIMIT
        end = stop
    parts.append((start, span[1]))
    return parts
