"""Title 18 by the comments, title and heads of OLRC and GPO HTML."""

from __future__ import annotations

import re

from lxml import etree

from manuals.model.official_file import OfficialFile, Recognised
from manuals.model.years import compact_date
from tam.errors import DamagedFile, UnrecognisedFile


def recognise(file: OfficialFile) -> Recognised | None:
    """The edition, or part of one, that an HTML file holds."""
    if file.kind == "xml":
        _refuse_uslm(file)
    if file.kind != "html":
        return None
    text, name = file.text, file.name
    current = re.search(r"currentthrough:\s*(\d{8})", text)
    if current is None:
        return None
    number = _title_number(text, file.html_title)
    if number != "18":
        shown = f"Title {number}" if number else "a title without its number"
        raise UnrecognisedFile(f"{name}: {shown} of the U.S. Code, not Title 18; leave it out")
    started, ended = text.count("<!-- field-start:"), text.count("<!-- field-end:")
    if started != ended or not re.search(r"</html>\s*\Z", text, re.IGNORECASE):
        raise DamagedFile(
            f"{name}: the HTML is cut off ({started} fields begin, {ended} end); fetch it again"
        )
    year = _year(text[: current.end() + 2000], file.html_title, current[1])
    part = re.search(r"documentid:18_-(?:pt)?(\S+)", text[: current.end() + 200])
    name_of_part = re.sub(r"-ch", ", Chapter ", part[1]) if part else ""
    return Recognised("title18", year, f"currentthrough:{current[1]}", name_of_part)


def _refuse_uslm(file: OfficialFile) -> None:
    name = etree.QName(file.root)
    if name.localname in ("uscDoc", "lawDoc") or "uslm" in (name.namespace or ""):
        raise UnrecognisedFile(
            f"{file.name}: the U.S. Code as USLM XML; Title 18 is read from the annual HTML "
            f"archive; leave it out"
        )


def _title_number(text: str, title: str) -> str:
    """The U.S. Code title that the file is of, from its comments, else from its heads."""
    for pattern, where in (
        (r"documentid:(\d+[A-Za-z]?)\b", text),
        (r"expcite:TITLE (\d+[A-Z]?)", text),
        (r"usc-title-head[^>]*>\s*(?:<[^>]+>)*\s*TITLE\s+(\d+[A-Z]?)", text),
        (r"Title (\d+[A-Za-z]?)", title),
    ):
        found = re.search(pattern, where)
        if found:
            return found[1]
    return ""


def _year(head: str, title: str, current: str) -> int:
    """The annual edition's year: as it names itself, else from the date it is current through.

    An annual edition holds the laws of a session of Congress, which ends in the first days of
    January: a date in January belongs to the edition of the year before.
    """
    named = re.search(r"United States Code,\s+(\d{4})\s+Edition", head) or re.search(
        r"\((\d{4})\)\s*$", title
    )
    if named:
        return int(named[1])
    day = compact_date(current)
    if day is None:
        return int(current[:4])
    return day.year - 1 if day.month == 1 else day.year
