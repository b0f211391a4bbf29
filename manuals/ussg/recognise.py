"""The Guidelines Manual by the text of its PDF's first pages."""

from __future__ import annotations

import re

from manuals.model.official_file import OfficialFile, Recognised
from manuals.model.years import long_date
from tam.errors import UnrecognisedFile


def recognise(file: OfficialFile) -> Recognised | None:
    """The edition that a PDF holds: the year of the date in its foot or citation form."""
    if file.kind != "pdf":
        return None
    text = file.page_text
    upper = text.upper()
    if "GUIDELINES MANUAL" not in upper or "SENTENCING COMMISSION" not in upper:
        return None
    foot = re.search(r"Guidelines Manual \(([A-Z][a-z]+ \d{1,2}, \d{4})\)", text) or re.search(
        r"effective ([A-Z][a-z]+ \d{1,2}, \d{4}), and earlier", text
    )
    day = long_date(foot[1]) if foot else None
    if foot and day:
        return Recognised("ussg", day.year, foot[1])
    year = re.search(r"GUIDELINES MANUAL\s+(?:ANNOTATED\s+)?(\d{4})\b", text, re.IGNORECASE)
    if year is None:
        raise UnrecognisedFile(
            f"{file.name}: a Guidelines Manual without its year on the first pages; "
            f"fetch the official file again"
        )
    return Recognised("ussg", int(year[1]), year[1])
