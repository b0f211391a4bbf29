"""References inside running text: queries, case facts, the manuals' own pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from manuals.icd10cm.codes import CATEGORY, normalise_code
from manuals.model.reference import SOURCES_OF, Kind, Reference
from manuals.uscode.statutes import DASH, SUBS, find_statutes, names_of, take_place

#: number of a guideline: chapter, part, guideline in the part (``2K2.1``)
GUIDELINE = r"[1-8][A-Za-z]\d{1,2}\.\d{1,2}"
NUMERALS = {
    word: str(number)
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight"), start=1
    )
}
CHAPTER_NUMBER = rf"(?:{'|'.join(NUMERALS)}|[1-8])"

_GUIDELINE = re.compile(
    r"(?:(?P<note>\bapp(?:lication|\.)\s+notes?\s+(?P<before>\d{1,2})(?:\([A-Za-z0-9]+\))*\s+"
    r"(?:to|of|in|under)\s+(?:the\s+commentary\s+(?:to|of|in)\s+)?))?"
    r"(?:\bU\.?S\.?S\.?G\.?,?\s*)?(?:§\s?§?\s*)?"
    rf"(?<![\w.])(?P<number>{GUIDELINE})(?![\w]|\.\d)",
    re.IGNORECASE,
)
_GUIDELINE_TAIL = re.compile(
    r",?\s*(?:(?:comment\.?|cmt\.?|commentary)\s*\(?\s*(?:nn?\.|notes?|app(?:lication|\.)\s+notes?)"
    r"|app(?:lication|\.)\s+notes?)\s*(?P<after>\d{1,2})\)?",
    re.IGNORECASE,
)
_SHORT_RANGE = re.compile(rf"{DASH}\s?(?P<tail>\d{{1,2}}\.\d{{1,2}})(?![\w]|\.\d)")
_SUB_JOINT = re.compile(rf"\s*(?P<joint>,\s*(?:and|or)\b|,|\band\b|\bor\b|\bthrough\b|{DASH})\s*")
_DASH_ONLY = re.compile(rf"\s?(?:{DASH}|through|to)\s?")

_USSG_PART = re.compile(
    rf"\bChapter\s+(?P<chapter>{CHAPTER_NUMBER}),?\s+Part\s+(?P<part>[A-Z])\b"
    r"(?:,?\s+Subpart\s+(?P<subpart>\d{1,2}))?",
    re.IGNORECASE,
)
_TITLE_CHAPTER = re.compile(
    r"\bchapters?\s+(?P<number>\d{1,3}[A-Z]?)\s+of\s+(?:this\s+title|title\s+18\b)", re.IGNORECASE
)

_ROMAN = r"(?:IV|I{1,3})"
_SECTION_OF_GUIDELINES = re.compile(
    rf"(?:\b[Ss]ections?\s+(?P<named>{_ROMAN}\.\s?[A-Z](?![A-Za-z]))|(?<![\w.])(?P<alone>{_ROMAN}\.[A-Z](?=\.\d)))"
    r"(?P<number>\.\s?\d{1,2}(?!\d))?"
    r"(?P<deeper>(?:\.?(?:[a-z]|[ivx]{1,4}|\d{1,2})(?![A-Za-z0-9])|\.\s[a-z](?=\.)|\.?\([a-z0-9]{1,2}\))*)"
)

_RANGE = re.compile(
    rf"(?<![\w.-])(?P<first>{CATEGORY})\s?{DASH}\s?(?P<last>{CATEGORY})(?![\w]|\.\w)"
)
_CODES_RANGE = re.compile(
    rf"(?<![\w.-])(?P<first>{CATEGORY}\.[0-9A-Z]{{1,4}})\s?{DASH}\s?"
    rf"(?P<last>{CATEGORY}\.[0-9A-Z]{{1,4}})(?![\w]|\.\w)"
)
_CODE = re.compile(
    r"(?<![\w.§-])(?P<category>[A-Za-z][0-9][0-9ABab])"
    r"(?:(?P<dotted>\.[0-9A-Za-z]{1,4}(?:-(?!\w))?)|(?P<open>\.?-)(?!\w)|(?P<rest>[0-9A-Za-z]{2,4})|)(?![\w]|\.\w)"
)
# A bare category (I10) is a code where the words around it say so.
_CODE_BEFORE = re.compile(
    r"(?:\b(?:sub)?(?:codes?|categor(?:y|ies)|ICD-?10(?:-CM)?)\s*[:(]?\s*|[(\[]\s*)$", re.IGNORECASE
)
# ... or where it stands before its title: "Z79 Long-term", "B20, Human".
_TITLE_AFTER = re.compile(r",?[^\S\n]+[A-Z][a-z]{3,}")
_CODE_JOINT = re.compile(rf"\s*(?:,\s*(?:and|or)\b|[,;/]|\band\b|\bor\b|\bto\b|{DASH})\s*")


def _reference(kind: Kind, key: str, text: str, start: int, end: int) -> Reference:
    return Reference(kind, key, sources=SOURCES_OF[kind], span=(start, end), text=text[start:end])


def _guidelines(text: str) -> Iterator[Reference]:
    before: Reference | None = None
    for found in _GUIDELINE.finditer(text):
        start, end = found.start(), found.end("number")
        note = found["before"]
        subs = SUBS.match(text, end)
        names = names_of(subs.group()) if subs else ()
        end = subs.end() if subs else end
        tail = _GUIDELINE_TAIL.match(text, end)
        if tail is not None:
            note, end = tail["after"], tail.end()
        key = f"§{found['number'].upper()}"
        current = replace(
            _reference("guideline", key, text, start, end),
            subdivisions=() if note else names,
            part=f"Application Note {int(note)}" if note else "",
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
            before = _reference("guideline", last, text, short.start("tail"), short.end())
            continue
        before = current
        for more in _more_subdivisions(text, current) if names and not note else ():
            if more.through:
                yield replace(before, through=more.through)
                before = replace(more, through="")
            else:
                yield before
                before = more
    if before is not None:
        yield before


def _more_subdivisions(text: str, first: Reference) -> Iterator[Reference]:
    """The members of ``(b)(1), (2)`` after the first; the last of a range carries ``through``."""
    chain, end = first.subdivisions, first.span[1]
    while (joint := _SUB_JOINT.match(text, end)) and (subs := SUBS.match(text, joint.end())):
        names = take_place(chain, names_of(subs.group()))
        if names is None:
            return
        member = replace(
            _reference("guideline", first.key, text, joint.end(), subs.end()), subdivisions=names
        )
        is_range = re.fullmatch(rf"through|{DASH}", joint["joint"], re.IGNORECASE)
        yield replace(member, through=member.full_key) if is_range else member
        chain, end = names, subs.end()


def ussg_group(chapter: str, part: str | None = None, subpart: str | None = None) -> str:
    """``("Two", "k", None)`` -> ``USSG Chapter 2, Part K``."""
    key = f"USSG Chapter {NUMERALS.get(chapter.lower(), chapter)}"
    if part:
        key += f", Part {part.upper()}"
    return f"{key}, Subpart {int(subpart)}" if subpart else key


def _groups(text: str) -> Iterator[Reference]:
    for found in _USSG_PART.finditer(text):
        key = ussg_group(found["chapter"], found["part"], found["subpart"])
        yield _reference("guideline_group", key, text, *found.span())
    for found in _TITLE_CHAPTER.finditer(text):
        key = f"18 U.S.C. Chapter {found['number'].upper()}"
        yield _reference("statute_group", key, text, *found.span())


def _guideline_sections(text: str) -> Iterator[Reference]:
    for found in _SECTION_OF_GUIDELINES.finditer(text):
        numbered = (found["named"] or found["alone"]) + (found["number"] or "")
        deeper = re.findall(r"[a-z]+|\d+", found["deeper"]) if found["number"] else []
        end = found.end("deeper") if deeper else max(found.end("number"), found.end("named"))
        key = ".".join([re.sub(r"\s", "", numbered), *deeper])
        yield _reference("guideline_section", key, text, found.start(), end)


def _codes(text: str) -> Iterator[Reference]:
    for found in _RANGE.finditer(text):
        key = f"{found['first']}-{found['last']}"
        yield replace(_reference("code_range", key, text, *found.span()), through=found["last"])
    for found in _CODES_RANGE.finditer(text):
        first = _reference("code", found["first"], text, *found.span("first"))
        yield replace(first, through=found["last"])
        yield _reference("code", found["last"], text, *found.span("last"))
    last_end = -1
    for found in _CODE.finditer(text):
        start, end = found.span()
        typed = found.group()
        joined = last_end >= 0 and _CODE_JOINT.fullmatch(text, last_end, start) is not None
        if found["rest"] is not None:
            sure = _unmistakable(typed)
        elif found["dotted"] is not None or found["open"] is not None:
            sure = found["open"] is None or typed[0].isupper()
        else:
            sure = typed[0].isupper() and (
                joined
                or text.strip() == typed
                or _CODE_BEFORE.search(text[max(0, start - 24) : start]) is not None
                or _TITLE_AFTER.match(text, end) is not None
            )
        if sure:
            last_end = end
            yield _reference("code", normalise_code(typed), text, start, end)


def _unmistakable(code: str) -> bool:
    """Whether a code without its dot cannot be another thing: E1122, S72002A, W11XXXA."""
    digits = sum(character.isdigit() for character in code)
    return digits >= 4 or (len(code) == 7 and "XX" in code.upper())


def find_references(text: str, *, title: int = 18, typed: bool = False) -> list[Reference]:
    """All references in a running text, in its order, none overlapping.

    ``title`` is the title that *this title* means. ``typed`` says that a person wrote the text (a
    query, a case): then ``§ 924(c)`` and ``924(c)`` mean Title 18 too, which in the manuals'
    own text they often do not (``Pub. L. 98-473, §218(a)``).

    Each member of a list is a reference of its own. A range of statutes, subdivisions, guidelines
    or codes gives both its ends, the first with ``through`` set to the last one's full key; a
    range of ICD categories is one reference of kind ``code_range`` with ``through`` its end.
    ICD codes need their dot, or five characters, or words that show what they are: *code* before
    them, their title after them. Index paths are not looked for: any words could be one.
    """
    found = [
        *find_statutes(text, title, typed),
        *_guidelines(text),
        *_groups(text),
        *_guideline_sections(text),
        *_codes(text),
    ]
    # Of two on one place the longer one counts, then the one that knows its range.
    found.sort(key=lambda each: (each.span[0], -each.span[1], not each.through))
    kept: list[Reference] = []
    for reference in found:
        if not kept or reference.span[0] >= kept[-1].span[1]:
            kept.append(reference)
    return kept
