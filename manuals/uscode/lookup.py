"""Statutes in an edition of Title 18."""

from __future__ import annotations

from manuals.library.lookup import joint_head, match_keys
from manuals.model.reference import Reference
from manuals.model.sections import Manual
from manuals.model.source import Match


def match(manual: Manual, reference: Reference) -> Match | None:
    """The section, or the joint head under which it stands (``[§§4084, 4085. Repealed.]``)."""
    keys = reference.candidates
    found = match_keys(manual, keys)
    head = joint_head(manual, reference.key) if found is None else None
    return Match(manual, (head,), len(keys)) if head is not None else found
