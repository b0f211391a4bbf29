"""One section as people and programs read it: text, notes that bind it, children, provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manuals.library.editions import Found
from manuals.library.store import edition_record
from manuals.model.sections import Manual, Note, Section


@dataclass(frozen=True, slots=True)
class PlacedNote:
    """A note that binds a section, and the key of the section that it stands at."""

    note: Note
    at: str


def binding_notes(found: Found) -> tuple[PlacedNote, ...]:
    """The section's own notes and those of all sections above it, outermost first."""
    if found.code is not None:
        return tuple(PlacedNote(bound.note, bound.section.key) for bound in found.code.notes)
    places = (*found.manual.ancestors(found.section), found.section)
    return tuple(PlacedNote(note, place.key) for place in places for note in place.notes)


def section_title(found: Found) -> str:
    """The title; of a code with the meaning of its seventh character."""
    return found.code.title if found.code is not None else found.section.title


def citation(found: Found) -> str:
    """How the section is cited; a code with a seventh character by all of it."""
    return found.code.code if found.code is not None else found.section.citation


def remark(found: Found) -> str:
    """One line on how the lookup came to this section; empty when it is plainly the one asked."""
    name = found.manual.edition.name
    if not found.exact:
        return f"{name} has nothing under exactly {found.asked}; this is the nearest"
    if found.latest:
        others = ", ".join(map(str, found.other_years))
        return f"the newest edition here that has it; other editions here: {others}"
    return ""


def section_record(found: Found) -> dict[str, Any]:
    """Everything about a found section as JSON values."""
    manual, section = found.manual, found.section
    return {
        "asked": found.asked,
        "exact": found.exact,
        "latest": found.latest,
        "other_years": list(found.other_years),
        "also": [other.key for other in found.also],
        "key": section.key,
        "citation": citation(found),
        "title": section_title(found),
        "source": section.source,
        "year": section.year,
        "kind": section.kind,
        "path": list(section.path),
        "text": manual.subtree_text(section).strip(),
        "own_text": manual.own_text(section),
        "notes": [
            {"kind": placed.note.kind, "text": placed.note.text, "at": placed.at}
            for placed in binding_notes(found)
        ],
        "children": [
            {"key": child.key, "title": child.title} for child in manual.children(section)
        ],
        "refs": [
            {"kind": ref.kind, "target": ref.target, "condition": ref.condition}
            for ref in section.refs
        ],
        "code": _code_record(found),
        "provenance": _provenance(manual, section),
        "edition": edition_record(manual.edition),
        "standing": found.standing.to_json(),
    }


def _code_record(found: Found) -> dict[str, Any] | None:
    code = found.code
    if code is None:
        return None
    return {
        "code": code.code,
        "valid": code.valid,
        "seventh": code.seventh,
        "sevenths": [
            {"character": character, "meaning": meaning} for character, meaning in code.sevenths
        ],
        "sevenths_from": code.sevenths_from,
        "complete": list(code.complete),
    }


def _provenance(manual: Manual, section: Section) -> dict[str, Any]:
    file = manual.file_at(section.span[0])
    return {
        "file": file.path,
        "sha256": file.sha256,
        "pages": list(section.pages) if section.pages else None,
        "span": list(section.span),
    }


def children_lines(children: Sequence[Section], most: int) -> list[str]:
    """The headings of at most ``most`` children, and how many more there are."""
    # The heading of an index term repeats the whole path, which stands above already.
    lines = [
        child.title if child.kind in ("main_term", "term") else child.heading
        for child in children[:most]
    ]
    if len(children) > most:
        lines.append(f"... and {len(children) - most} more")
    return lines
