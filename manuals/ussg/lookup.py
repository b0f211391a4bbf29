"""Guidelines, statutes in Appendix A, and amendments in an edition of the Guidelines Manual."""

from __future__ import annotations

import re
from dataclasses import replace

from manuals.library.lookup import NEAREST, joint_head, match_keys, with_nearest
from manuals.model.amendments import Amendment
from manuals.model.reference import Reference
from manuals.model.sections import Manual, Section
from manuals.model.source import Match
from manuals.model.years import MONTHS, long_date
from manuals.ussg.statute_index import PREFIX, StatuteIndex

_STEP = re.compile(
    rf"(?P<day>(?:{'|'.join(MONTHS)}) \d{{1,2}}, \d{{4}})(?: \((?P<law>amendments? [^)]*)\))?"
)


def match(manual: Manual, reference: Reference) -> Match | None:
    """A guideline by its keys; a statute by the rows of Appendix A that hold it."""
    if reference.kind == "statute":
        return _rows(manual, reference)
    found = match_keys(manual, reference.candidates)
    if found is None and reference.kind == "appendix_a":
        return _rows(manual, replace(reference, key=reference.key.removeprefix(PREFIX)))
    return found


def _rows(manual: Manual, reference: Reference) -> Match | None:
    found = StatuteIndex(manual).rows_of(reference)
    return Match(manual, found.rows, 0 if found.exact else 1) if found.rows else None


def why_absent(
    manual: Manual, reference: Reference, line: str, near: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Names the joint head (``§§5K2.0-5K2.24``) under which a number stood."""
    head = joint_head(manual, reference.key)
    if head is None:
        return with_nearest(line, near), near
    near = tuple(dict.fromkeys((head.key, *near)))[:NEAREST]
    return with_nearest(f"{line}: {head.heading} stands there", near), near


def amendments(manual: Manual, section: Section) -> tuple[Amendment, ...]:
    """The amendments that the Historical Note of a guideline names, by date.

    Each stands there with the day on which it took effect: 1 November, or another day for one
    made under emergency authority or given effect earlier.
    """
    notes = [child for child in manual.children(section) if child.kind == "historical-note"]
    text = " ".join(" ".join(manual.subtree_text(note).split()) for note in notes)
    found: list[Amendment] = []
    for match in _STEP.finditer(text):
        day = long_date(match["day"])
        if day is not None:
            added = not found and text[: match.start()].rstrip().endswith("Effective")
            law = match["law"] or "the guideline's first edition"
            found.append(Amendment(law, day, added))
    return tuple(sorted(found, key=lambda each: each.day))
