"""Sections as the text that a tool returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from manuals.sections import Manual, Section

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


def listing(sections: Sequence[Section], marks: Iterable[str] = ()) -> str:
    """One line a section: its key and title."""
    rows = []
    for section, mark in zip(sections, [*marks, *[""] * len(sections)], strict=False):
        title = "" if section.title in ("", section.key) else f"  {section.title}"
        rows.append(f"{section.key}{title}{mark}")
    return "\n".join(rows)


def entry_lines(manual: Manual, section: Section) -> list[str]:
    """An index entry with its subtree: indented titles with codes and references."""
    return [
        "  " * (entry.level - section.level) + entry.title + _pointers(entry)
        for entry in manual.subtree(section)
    ]


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
