"""How files and messages name a section of an edition: ``ussg/2025/§2K2.1``."""

from __future__ import annotations

import re
from typing import NamedTuple

_FORM = re.compile(r"([^/\s]+)/(\d{4})/(.+)", re.DOTALL)


class SectionId(NamedTuple):
    """A section by source, year and key; a key may hold slashes. ``str`` gives the id."""

    source: str
    year: int
    key: str

    def __str__(self) -> str:
        return f"{self.source}/{self.year}/{self.key}"

    @property
    def edition(self) -> str:
        """The name of its edition: ``ussg/2025``."""
        return edition_name(self.source, self.year)

    @classmethod
    def parse(cls, text: str) -> SectionId | None:
        """The parts of an id; ``None`` for a text of another form."""
        found = _FORM.fullmatch(text)
        return None if found is None else cls(found[1], int(found[2]), found[3])


def edition_name(source: str, year: int) -> str:
    """``tabular/2025``: how commands and messages name an edition."""
    return f"{source}/{year}"
