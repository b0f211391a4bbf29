"""How the Guidelines Manual is cited: ``USSG §2K2.1(b)(4)``, ``§2K2.1, comment. (nn.3-5)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from manuals.model.reference import Reference
from manuals.uscode.citations import parse_statute
from manuals.uscode.statutes import DASH, SUBS, names_of, take_place

#: number of a guideline: chapter, part, guideline in the part (``2K2.1``)
GUIDELINE = r"[1-8][A-Za-z]\d{1,2}\.\d{1,2}"
NUMERALS = {
    word: str(number)
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight"), start=1
    )
}
_CHAPTER = rf"(?:{'|'.join(NUMERALS)}|[1-8])"
_USSG = r"(?:(?:U\.?S\.?S\.?G\.?|Guidelines(?:\sManual)?)\s?)"

# -- a whole text

_APPENDIX = re.compile(r"App(?:endix|\.)\s?A(?:(?:\s?>\s?|,?\s)(?P<row>.+))?", re.IGNORECASE)
_GROUP = re.compile(
    rf"{_USSG}?(?:Chapter|Ch\.?)\s(?P<chapter>{_CHAPTER})"
    r"(?:,?\s(?:Part|Pt\.?)\s(?P<part>[A-Z])(?:,?\sSubpart\s(?P<subpart>\d{1,2}))?)?"
    r"(?:\s?(?P<heading>>\s\S.*)|,?\s(?P<tail>.+))?",
    re.IGNORECASE,
)
_SENTENCING_TABLE = re.compile(rf"{_USSG}?(?:the\s)?Sentencing Table", re.IGNORECASE)
#: sections that the manual has only as one deleted range
_DELETED = re.compile(
    rf"{_USSG}?§?§?\s?(?P<first>{GUIDELINE})\s?{DASH}\s?(?P<last>{GUIDELINE})"
    r"(?P<tail>\sHistorical Note)?",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    rf"{_USSG}?(?:§\s?)?(?P<number>{GUIDELINE})\.?\s?(?P<subs>(?:\([A-Za-z0-9]{{1,6}}\))*)"
    r"(?:,?\s(?P<tail>.+))?",
    re.IGNORECASE,
)
_NOTE_FIRST = re.compile(
    r"app(?:lication|\.)?\s?note\s?(?P<note>\d{1,2})\s(?:to|of|in|under)\s(?P<rest>.+)",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"(?:(?:comment\.?|cmt\.?|commentary),?\s?\(?\s?(?:n\.|n|note|app(?:lication|\.)?\s?note)"
    r"|app(?:lication|\.)?\s?note|n\.|note)\s?(?P<note>\d{1,2})(?:\([A-Za-z0-9]+\))*\)?",
    re.IGNORECASE,
)
_PARTS = {
    name.lower(): name
    for name in (
        "Application Notes",
        "Background",
        "Historical Note",
        "Statutory Provisions",
        "Introductory Commentary",
        "Concluding Commentary",
        "Commentary",
        "Sentencing Table",
    )
}

# -- in running text

_IN_TEXT = re.compile(
    r"(?:(?P<note>\bapp(?:lication|\.)\s+notes?\s+(?P<before>\d{1,2})(?:\([A-Za-z0-9]+\))*\s+"
    r"(?:to|of|in|under)\s+(?:the\s+commentary\s+(?:to|of|in)\s+)?))?"
    r"(?:\bU\.?S\.?S\.?G\.?,?\s*)?(?:§\s?§?\s*)?"
    rf"(?<![\w.])(?P<number>{GUIDELINE})(?![\w]|\.\d)",
    re.IGNORECASE,
)
_NOTES_AFTER = re.compile(
    r",?\s*(?:(?:comment\.?|cmt\.?|commentary),?\s*\(?\s*(?:n(?P<n>n)?\.|notes?|app(?:lication|\.)\s+"
    r"note(?P<s>s)?)|app(?:lication|\.)\s+note(?P<many>s)?)\s*(?P<after>\d{1,2})(?:\([A-Za-z0-9]+\))*"
    r"(?P<end>\)?)",
    re.IGNORECASE,
)
_MORE_NOTES = re.compile(
    rf"\s*(?:(?P<dash>{DASH})|,\s*(?:and\b|&)?|&|and\b)\s*(?P<number>\d{{1,2}})(?![\w.])"
    r"(?:\([A-Za-z0-9]+\))*"
)
_SHORT_RANGE = re.compile(rf"{DASH}\s?(?P<tail>\d{{1,2}}\.\d{{1,2}})(?![\w]|\.\d)")
_SUB_JOINT = re.compile(rf"\s*(?P<joint>,\s*(?:and|or)\b|,|\band\b|\bor\b|\bthrough\b|{DASH})\s*")
_DASH_ONLY = re.compile(rf"\s?(?:{DASH}|through|to)\s?")
_GROUP_IN_TEXT = re.compile(
    rf"\bChapter\s+(?P<chapter>{_CHAPTER}),?\s+Part\s+(?P<part>[A-Z])\b"
    r"(?:,?\s+Subpart\s+(?P<subpart>\d{1,2}))?",
    re.IGNORECASE,
)


def group_key(chapter: str, part: str | None = None, subpart: str | None = None) -> str:
    """``("Two", "k", None)`` -> ``USSG Chapter 2, Part K``."""
    key = f"USSG Chapter {NUMERALS.get(chapter.lower(), chapter)}"
    if part:
        key += f", Part {part.upper()}"
    return f"{key}, Subpart {int(subpart)}" if subpart else key


def _make(kind: str, key: str, **fields: Any) -> Reference:
    return Reference(kind, key, sources=("ussg",), **fields)


# -- a whole text


def parse_reference(text: str) -> Reference | None:
    """A guideline, its notes, a chapter or part, or Appendix A and its rows."""
    return _appendix(text) or _group(text) or _guideline(text)


def _appendix(text: str) -> Reference | None:
    found = _APPENDIX.fullmatch(text)
    if found is None:
        return None
    words = found["row"]
    if not words:
        return _make("appendix_a", "Appendix A")
    if words.lower() == "historical note":
        return _make("appendix_a", "Appendix A", part="Historical Note")
    row = parse_statute(words)
    if row is None:
        return _make("appendix_a", f"Appendix A > {words}") if ">" in text else None
    if row.part == "Notes":
        # A row of its own: statutes printed as a note below the section.
        row = replace(row, key=f"{row.key} note", part="")
    return replace(row, kind="appendix_a", key=f"Appendix A > {row.key}", sources=("ussg",))


def _group(text: str) -> Reference | None:
    if _SENTENCING_TABLE.fullmatch(text):
        return _make("guideline_group", group_key("5", "A"), part="Sentencing Table")
    group = _GROUP.fullmatch(text)
    if group is None:
        return None
    part = group["heading"] or _part(group["tail"] or "")
    key = group_key(group["chapter"], group["part"], group["subpart"])
    return None if part is None else _make("guideline_group", key, part=part)


def _part(tail: str) -> str | None:
    """The normal form of a subheading or note; ``None`` for other words, and "" for none."""
    note = _NOTE.fullmatch(tail)
    if note is not None:
        return f"Application Note {int(note['note'])}"
    return _PARTS.get(tail.lower()) if tail else ""


def _guideline(text: str) -> Reference | None:
    first = _NOTE_FIRST.fullmatch(text)
    if first is not None:
        inner = _guideline(re.sub(r"^the\scommentary\s(?:to|of)\s", "", first["rest"], flags=re.I))
        if inner is None or inner.part:
            return None
        return replace(inner, subdivisions=(), part=f"Application Note {int(first['note'])}")
    deleted = _DELETED.fullmatch(text)
    if deleted is not None:
        last = deleted["last"].upper()
        key = f"§§{deleted['first'].upper()}-{last}"
        tail = "Historical Note" if deleted["tail"] else ""
        return _make("guideline", key, through=f"§{last}", part=tail)
    found = _WHOLE.fullmatch(text)
    part = _part(found["tail"] or "") if found is not None else None
    if found is None or part is None:
        return None
    names = () if part.startswith("Application Note ") else names_of(found["subs"])
    return _make("guideline", f"§{found['number'].upper()}", subdivisions=names, part=part)


# -- in running text


def find_references(text: str, typed: bool) -> Iterator[Reference]:
    """Guidelines with their notes, and parts of chapters; each member of a list is one."""
    yield from _guidelines(text)
    for found in _GROUP_IN_TEXT.finditer(text):
        key = group_key(found["chapter"], found["part"], found["subpart"])
        yield _make("guideline_group", key, span=found.span(), text=found.group())


def _guidelines(text: str) -> Iterator[Reference]:
    before: Reference | None = None
    for found in _IN_TEXT.finditer(text):
        start, end = found.start(), found.end("number")
        note = found["before"]
        subs = SUBS.match(text, end)
        names = names_of(subs.group()) if subs else ()
        end = subs.end() if subs else end
        notes = _NOTES_AFTER.match(text, end)
        if notes is not None:
            note, end = notes["after"], notes.end()
        key = f"§{found['number'].upper()}"
        current = _make(
            "guideline",
            key,
            subdivisions=() if note else names,
            part=f"Application Note {int(note)}" if note else "",
            span=(start, end),
            text=text[start:end],
        )
        if before is not None and _DASH_ONLY.fullmatch(text, before.span[1], start):
            before = replace(before, through=current.full_key)
        if before is not None:
            yield before
        short = _SHORT_RANGE.match(text, end)
        if short is not None:
            # §§2A3.1-3.3: chapter and part stand once.
            last = f"{key[:3]}{short['tail']}"
            yield replace(current, through=last)
            span = short.span("tail")
            before = _make("guideline", last, span=span, text=short["tail"])
            continue
        before = current
        for member in _more(text, current, notes):
            if member.through:
                yield replace(before, through=member.through)
                before = replace(member, through="")
            else:
                yield before
                before = member
    if before is not None:
        yield before


def _more(text: str, first: Reference, notes: re.Match[str] | None) -> Iterator[Reference]:
    """The members of a list after its first."""
    if notes is not None and (notes["n"] or notes["s"] or notes["many"]):
        return _more_notes(text, first, int(notes["after"]))
    return _more_subdivisions(text, first) if first.subdivisions else iter(())


def _more_notes(text: str, first: Reference, last: int) -> Iterator[Reference]:
    """The notes of ``(nn.3-5)`` after the first: 4, which stands at the dash, and 5."""
    end = first.span[1]
    while more := _MORE_NOTES.match(text, end):
        number, (start, end) = int(more["number"]), (more.start("number"), more.end())
        if more["dash"]:
            for inner in range(last + 1, number):
                # One place for all: the dash is the text of the first, the others have none.
                place = more.start("dash") + (inner > last + 1)
                yield _note(first, inner, text, place, more.end("dash"))
        yield _note(first, number, text, start, end)
        last = number


def _note(first: Reference, number: int, text: str, start: int, end: int) -> Reference:
    part = f"Application Note {number}"
    return replace(first, part=part, span=(start, end), text=text[start:end])


def _more_subdivisions(text: str, first: Reference) -> Iterator[Reference]:
    """The members of ``(b)(1), (2)`` after the first; the last of a range carries ``through``."""
    chain, end = first.subdivisions, first.span[1]
    while (joint := _SUB_JOINT.match(text, end)) and (subs := SUBS.match(text, joint.end())):
        names = take_place(chain, names_of(subs.group()))
        if names is None:
            return
        member = _make(
            "guideline",
            first.key,
            subdivisions=names,
            span=(joint.end(), subs.end()),
            text=text[joint.end() : subs.end()],
        )
        is_range = re.fullmatch(rf"through|{DASH}", joint["joint"], re.IGNORECASE)
        yield replace(member, through=member.full_key) if is_range else member
        chain, end = names, subs.end()
