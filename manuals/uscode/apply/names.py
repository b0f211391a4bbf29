"""What sections of the United States Code are called: their titles under chapter and part."""

from __future__ import annotations

from collections.abc import Iterator

from manuals.apply.names import Others, UnitName, headed
from manuals.model.sections import Manual


def names(manual: Manual, others: Others) -> Iterator[UnitName]:
    """Each section's title in force with the headings above it."""
    for section in manual.sections:
        if section.kind == "section" and section.version == 1:
            yield UnitName(manual.source, section.key, headed(manual, section))
