"""What categories and codes are called: titles, inclusion terms, and the entries that lead there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from manuals.apply.names import Others, UnitName, headed
from manuals.model.sections import Manual

#: characters of a code without its dot above which a name only adds a side or an encounter
_LONGEST = 5
_TERMS = frozenset({"inclusionTerm", "includes"})
_LEADING = frozenset({"code", "manifestation", "cell"})
_VERSION = re.compile(r"#\d+")


def tabular_names(manual: Manual, others: Others) -> Iterator[UnitName]:
    """Of each category and code its title under the headings above it, and its inclusion terms."""
    for section in manual.sections:
        if section.kind not in ("category", "subcategory", "code"):
            continue
        short = len(section.key.replace(".", "")) <= _LONGEST
        yield UnitName(manual.source, section.key, headed(manual, section), encoded=short)
        for note in section.notes:
            if note.kind in _TERMS:
                yield UnitName(manual.source, section.key, note.text, encoded=short)


def index_names(manual: Manual, others: Others) -> Iterator[UnitName]:
    """The path of each entry, as a name of the codes that it gives; of a row in a table with the
    head of each column."""
    for section in manual.sections:
        path = _VERSION.sub("", section.heading)
        for ref in dict.fromkeys(section.refs):
            if ref.kind in _LEADING:
                text = f"{path} {ref.condition}".strip()
                yield UnitName("tabular", ref.target.rstrip("-."), text, section.key, encoded=False)
