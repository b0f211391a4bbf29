"""Sections as the text that a tool returns."""

from __future__ import annotations

from collections.abc import Iterable

from manuals.library.editions import Found
from manuals.model.sections import Manual, Section

#: how ICD notes are headed when they are shown
NOTE_HEADS = {
    "includes": "Includes",
    "inclusionTerm": "Inclusion terms",
    "excludes1": "Excludes1",
    "excludes2": "Excludes2",
    "codeFirst": "Code first",
    "useAdditionalCode": "Use additional code",
    "codeAlso": "Code also",
    "sevenChrNote": "7th character",
    "notes": "Note",
}


def head(manual: Manual, section: Section) -> str:
    """Heading, key, edition and path: the first lines of every opened section."""
    lines = [
        section.heading,
        f"key: {section.key}  ({manual.edition.title or manual.edition.name})",
    ]
    if section.path:
        lines.append("in: " + " / ".join(section.path))
    return "\n".join(lines)


def note_lines(notes: Iterable[tuple[str, str]], origin: str = "") -> list[str]:
    """One line a kind of note, in the order in which the kinds first come."""
    by_kind: dict[str, list[str]] = {}
    for kind, text in notes:
        if text.strip():
            by_kind.setdefault(kind, []).append(text.strip())
    where = f" (from {origin})" if origin else ""
    return [
        f"{NOTE_HEADS.get(kind, kind)}{where}: " + " | ".join(texts)
        for kind, texts in by_kind.items()
    ]


def listing(sections: Iterable[Section]) -> str:
    """One line a section: its key and title."""
    return "\n".join(
        section.key + ("" if section.title in ("", section.key) else f"  {section.title}")
        for section in sections
    )


def entries(manual: Manual, section: Section) -> tuple[str, list[tuple[int, Section]]]:
    """An index entry with its subtree: indented titles with codes and references, and where in
    the text each entry begins."""
    text = ""
    marks = []
    for entry in manual.subtree(section):
        text += "\n" if text else ""
        marks.append((len(text), entry))
        text += "  " * (entry.level - section.level) + entry.title + _pointers(entry)
    return text, marks


def not_exact(found: Found) -> list[str]:
    """A line that says so when the section asked for is not there and one above it is shown."""
    if found.exact:
        return []
    return [f"(there is no {found.asked} apart; this is {found.section.key})"]


def _pointers(entry: Section) -> str:
    parts = []
    for ref in entry.refs:
        if ref.kind == "code":
            parts.append(ref.target)
        elif ref.kind == "manifestation":
            parts.append(f"[{ref.target}]")
        elif ref.kind in ("see", "see_also"):
            parts.append(f"{ref.kind.replace('_', ' ')}: {ref.target}")
        elif ref.kind == "cell":
            parts.append(f"{ref.condition}: {ref.target}")
    return f"  -> {'; '.join(parts)}" if parts else ""
