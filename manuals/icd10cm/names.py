"""What categories and codes are called: titles, inclusion terms, and the entries that lead there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from manuals.model.names import Others, UnitName, headed
from manuals.model.sections import Manual

#: characters of a code without its dot above which a name only adds a side or an encounter
_LONGEST = 5
_TERMS = frozenset({"inclusionTerm", "includes"})
_CODES = frozenset({"code", "manifestation"})
_VERSION = re.compile(r"#\d+")


def tabular_names(manual: Manual, others: Others) -> Iterator[UnitName]:
    """Of each category and code its title under the headings above it, and its inclusion terms."""
    for section in manual.sections:
        if section.kind not in ("category", "subcategory", "code"):
            continue
        terms = (note.text for note in section.notes if note.kind in _TERMS)
        text = ". ".join((headed(manual, section), *terms))
        short = len(section.key.replace(".", "")) <= _LONGEST
        yield UnitName(manual.source, section.key, text, encoded=short)


def index_names(manual: Manual, others: Others) -> Iterator[UnitName]:
    """The path of each entry, as a name of the codes that it gives."""
    for section in manual.sections:
        targets = dict.fromkeys(ref.target for ref in section.refs if ref.kind in _CODES)
        path = _VERSION.sub("", section.heading)
        for target in targets:
            yield UnitName("tabular", target.rstrip("-."), path, section.key, encoded=False)


def no_names(manual: Manual, others: Others) -> Iterator[UnitName]:
    """Of a table of substances: each row gives a code a cell, and none is what the code is called."""
    return iter(())
