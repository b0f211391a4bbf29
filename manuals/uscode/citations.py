"""How statutes are cited: ``18 U.S.C. § 922(g)(1)``, ``18 USC chapter 44``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from manuals.model.reference import Reference
from manuals.uscode.statutes import find_statutes
from tam.errors import BadReference

_TITLE = "18 U.S.C."
_GROUP = re.compile(
    r"(?P<title>\d{1,2})\s?U\.?\s?S\.?\s?(?:C(?:ode)?\.?)(?:,?\s(?:Part\s(?P<part>[IVX]+)"
    r"|(?:Chapter|Ch\.?)\s(?P<chapter>\d{1,3}[A-Z]?)(?:,?\sSubchapter\s(?P<sub>[A-Z]|[IVX]+))?))?",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\s(?:(?P<notes>Notes?)(?P<heading>\s>\s.+)?|(?P<credit>Source Credit)|(?P<foot>Footnotes))$",
    re.IGNORECASE,
)
#: what may stand before the section: ``Title 21, Section 846``
_TITLE_ALONE = re.compile(r"(?:title \d{1,2},? )?", re.IGNORECASE)
_CHAPTER = re.compile(
    r"\bchapters?\s+(?P<number>\d{1,3}[A-Z]?)\s+of\s+(?:this\s+title|title\s+18\b)", re.IGNORECASE
)


def parse_reference(text: str) -> Reference | None:
    """A statute, or a part or chapter of Title 18. ``§ 924`` and ``924(c)`` mean Title 18."""
    text, part = _split_part(text)
    return _group(text, part) or parse_statute(text, part)


def find_references(text: str, typed: bool) -> Iterator[Reference]:
    """Statutes of all titles, and chapters of Title 18."""
    yield from find_statutes(text, typed)
    for found in _CHAPTER.finditer(text):
        key = f"{_TITLE} Chapter {found['number'].upper()}"
        yield _group_reference(key, span=found.span(), text=found.group())


def parse_statute(text: str, part: str = "") -> Reference | None:
    """The statute that a text as a whole is."""
    if not part:
        text, part = _split_part(text)
    found = list(find_statutes(text, typed=True))
    if len(found) != 1 or text[found[0].span[1] :].strip(". "):
        return None
    if _TITLE_ALONE.fullmatch(text, 0, found[0].span[0]) is None:
        return None
    return replace(found[0], part=part or found[0].part)


def _group_reference(key: str, **fields: str | tuple[int, int]) -> Reference:
    return Reference("statute_group", key, sources=("title18",), **fields)  # type: ignore[arg-type]


def _split_part(text: str) -> tuple[str, str]:
    """The text without the part of a statute at its end, and that part in normal form."""
    found = _PART.search(text)
    if found is None:
        return text, ""
    part = "Source Credit" if found["credit"] else "Footnotes" if found["foot"] else "Notes"
    return text[: found.start()], part + (found["heading"] or "")


def _group(text: str, part: str) -> Reference | None:
    found = _GROUP.fullmatch(text)
    if found is None or (text.lower() != "18 u.s.c." and not (found["part"] or found["chapter"])):
        return None
    key = f"{int(found['title'])} U.S.C."
    if found["part"]:
        key += f" Part {found['part'].upper()}"
    elif found["chapter"]:
        key += f" Chapter {found['chapter'].upper()}"
        if found["sub"]:
            key += f", Subchapter {found['sub'].upper()}"
    if not key.startswith(_TITLE):
        raise BadReference(
            f"no manual holds {key}; of titles other than 18 there are the sections that "
            f"Appendix A lists, such as 21 U.S.C. § 841"
        )
    return _group_reference(key, part=part)
