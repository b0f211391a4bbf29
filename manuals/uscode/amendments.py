"""The laws that made and amended a section of Title 18, from its source credit and notes.

The credit names each law with its date; the note *Amendments* says which subdivision it changed,
the notes *Effective Date of ... Amendment* from when on. A credit that names a law without a
public law's number (before 1957) is passed over: no edition here is that old.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from manuals.model.amendments import Amendment
from manuals.model.sections import Manual, Section
from manuals.model.years import MONTHS

_LAW = re.compile(r"Pub\. L\. \d+[–-]\d+")
# A public law in a credit and, before its volume of the Statutes at Large, its date.
_CREDIT = re.compile(
    rf"(?P<law>{_LAW.pattern})(?:(?!Pub\. L\.).)*?"
    r", (?P<month>[A-Z][a-z]{2,8})\.? (?P<day>\d{1,2}), (?P<year>\d{4}), \d+ Stat\.",
    re.DOTALL,
)
_WHOLE_CREDIT = re.compile(
    r"[(\[](?:Added )?(?:Pub\. L\.|[A-Z][a-z]+\.? \d+, \d{4}, ch\.)[^\n]* Stat\. "
)
_MONTHS = {name[:3]: number for number, name in enumerate(MONTHS, start=1)}
# ``2022—Subsec. (a)(2). Pub. L. 117–159 ...``: an entry; others go on with the one before them.
_ENTRY = re.compile(
    r"(?:(?P<year>\d{4})—)?"
    r"(?:(?:Subsec|Par|Subpar|Cl)s?\. (?P<places>\([^.]*?\))\. |(?=Pub\. L\. )|(?<=—))"
)
_ENUMERATORS = re.compile(r"(?:\([0-9A-Za-z]{1,5}\))+")
_VERSION = re.compile(r"#\d+$")
_ROMAN = re.compile(r"[ivx]+")


def amendments(manual: Manual, section: Section) -> tuple[Amendment, ...]:
    """The laws that the notes of a whole section name, in the order of their dates."""
    apparatus = {
        below.key: manual.subtree_text(below)
        for child in manual.children(section)
        if child.kind in ("note", "notes")
        for below in manual.subtree(child)
    }
    # After an appendix or a heading within the statute the credit stands among the notes.
    paragraphs = (part for text in apparatus.values() for part in text.split("\n\n"))
    credit = _ending(apparatus, " Source Credit") or next(
        filter(_WHOLE_CREDIT.match, paragraphs), ""
    )
    entries = list(_entries(_ending(apparatus, " Notes > Amendments")))
    effects = [text for key, text in apparatus.items() if " Notes > Effective " in key]
    found: dict[str, Amendment] = {}
    for match in _CREDIT.finditer(credit):
        day = _date(match)
        if day is None or match["law"] in found:
            continue
        own = [entry for entry in entries if entry.law == match["law"]]
        placed = all(entry.places for entry in own)
        found[match["law"]] = Amendment(
            match["law"],
            day,
            added=credit[: match.start()].lstrip("[(") == "Added ",
            places=tuple(place for entry in own for place in entry.places) if placed else (),
            what=" ".join(entry.text for entry in own),
            effect=" ".join(_of_law(match["law"], effects)),
        )
    return tuple(sorted(found.values(), key=lambda each: each.day))


@dataclass(frozen=True, slots=True)
class _Entry:
    law: str
    places: tuple[str, ...]
    text: str


def _ending(apparatus: dict[str, str], end: str) -> str:
    return next((t for key, t in apparatus.items() if _VERSION.sub("", key).endswith(end)), "")


def _date(match: re.Match[str]) -> date | None:
    month = _MONTHS.get(match["month"][:3])
    try:
        return date(int(match["year"]), month, int(match["day"])) if month else None
    except ValueError:
        return None


def _entries(note: str) -> Iterator[_Entry]:
    """The entries of a note *Amendments* that name a law; quoted former text is no entry.

    One that begins with its law, within a year, is of the same subdivision as the one before.
    """
    places: tuple[str, ...] = ()
    for paragraph in note.split("\n\n"):
        text = " ".join(paragraph.split())
        start = _ENTRY.match(text)
        law = _LAW.search(text)
        if start and law:
            if start["year"] or start["places"]:
                places = _places(start["places"] or "")
            yield _Entry(law[0], places, text.removeprefix(f"{start['year']}—"))


def _places(text: str) -> tuple[str, ...]:
    """``(a)(4), (5), (f)`` -> ``(a)(4)``, ``(a)(5)``, ``(f)``: what is left out is as before."""
    found: list[list[str]] = []
    for match in _ENUMERATORS.finditer(text):
        parts = re.findall(r"\((\w+)\)", match[0])
        above = found[-1] if found else []
        depth = _depth(parts[0], above)
        found.append(above[:depth] + parts)
    return tuple("".join(f"({part})" for part in parts) for parts in found)


def _depth(part: str, above: list[str]) -> int:
    """Where a subdivision stands below those of the one named before it: beside its like."""
    for depth in range(len(above) - 1, -1, -1):
        if _form(above[depth], depth) == _form(part, depth):
            return depth
    return 0


def _form(part: str, depth: int) -> str:
    if part.isdigit():
        return "number"
    if part.isupper():
        return "capital"
    return "roman" if depth > 0 and _ROMAN.fullmatch(part) else "letter"


def _of_law(law: str, notes: list[str]) -> Iterator[str]:
    """The paragraphs of notes on effect that begin with a law or an amendment by it."""
    for note in notes:
        going = False
        for paragraph in note.split("\n\n")[1:]:
            text = " ".join(paragraph.split())
            named = _LAW.search(text)
            # What is quoted over several paragraphs goes on with an opening quotation mark.
            if not text.startswith(('"', "“")):
                going = named is not None and named[0] == law
            if going:
                yield text
