"""What guidelines are called: their titles under part and chapter."""

from __future__ import annotations

from collections.abc import Iterator

from manuals.apply.names import Others, UnitName, headed
from manuals.model.sections import Manual


def names(manual: Manual, others: Others) -> Iterator[UnitName]:
    """Each guideline's title with the headings above it."""
    for section in manual.sections:
        if section.kind == "guideline":
            yield UnitName(manual.source, section.key, headed(manual, section))
