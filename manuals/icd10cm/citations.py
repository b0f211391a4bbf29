"""How ICD-10-CM is cited: ``E11.22``, ``E08-E13``, ``I.C.2.e``, ``Abscess > brain``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from manuals.icd10cm.codes import CATEGORY, is_code, normalise_code
from manuals.model.reference import Reference
from tam.errors import BadReference

_DASH = r"[-‐‑‒–—−]"
_SOURCES = {
    "index_path": ("index", "eindex", "drugs", "neoplasm"),
    "guideline_section": ("guidelines",),
}

# -- a whole text

# The levels are possessive (*+): a word can be cut into them in many ways, of which none matters.
_SECTION = re.compile(
    r"(?P<named>(?:Guidelines?\s)?Section\s|Guidelines?\s)?(?P<roman>IV|I{1,3}|[1-4](?=\.[A-Z]))"
    r"(?P<deeper>(?:\.\s?[A-Z](?:\.\s?\d{1,2}(?:[.\s]{0,2}\(?[a-z0-9]{1,4}\)?)*+)?)?)\.?",
    re.IGNORECASE,
)
_ROMANS = {"1": "I", "2": "II", "3": "III", "4": "IV"}
_APPENDIX = re.compile(r"App(?:endix|\.)\s?I", re.IGNORECASE)
_RANGE = re.compile(rf"(?P<first>{CATEGORY})\s?{_DASH}\s?(?P<last>{CATEGORY})", re.IGNORECASE)
_CHAPTER = re.compile(r"Chapter\s(?P<number>\d{1,2})", re.IGNORECASE)
_INTRODUCTION = re.compile(r"Introduction(?:\s>\s\S.*)?")
_TOO_LONG = re.compile(rf"{CATEGORY}\.?[0-9A-Z]{{5,}}", re.IGNORECASE)
# A term of an index: starts with a letter, or with a number that is part of a name (2,4-D).
_TERM = re.compile(r"(?=[^§]*[^\W\d_])(?:[^\W\d_]|['\"‘“(\[]|\d+(?:[,.']\d+)*['’]?-[^\W\d_])[^§>]*")
_MALFORMED = re.compile(
    r"\bU\.?\s?S\.?\s?(?:C\b|Code)|\bUSSG\b|\bsections?\s*\d|^\d+\s|^\d+\w?\(", re.I
)

# -- in running text

_ROMAN = r"(?:IV|I{1,3})"
_SECTION_IN_TEXT = re.compile(
    rf"(?:\b[Ss]ections?\s+(?P<named>{_ROMAN}\.\s?[A-Z](?![A-Za-z]))|(?<![\w.])(?P<alone>{_ROMAN}\.[A-Z](?=\.\d)))"
    r"(?P<number>\.\s?\d{1,2}(?!\d))?"
    r"(?P<deeper>(?:\.?(?:[a-z]|[ivx]{1,4}|\d{1,2})(?![A-Za-z0-9])|\.\s[a-z](?=\.)|\.?\([a-z0-9]{1,2}\))*)"
)
_RANGE_IN_TEXT = re.compile(
    rf"(?<![\w.-])(?P<first>{CATEGORY})\s?{_DASH}\s?(?P<last>{CATEGORY})(?![\w]|\.\w)"
)
_CODES_RANGE = re.compile(
    rf"(?<![\w.-])(?P<first>{CATEGORY}\.[0-9A-Z]{{1,4}})\s?{_DASH}\s?"
    rf"(?P<last>{CATEGORY}\.[0-9A-Z]{{1,4}})(?![\w]|\.\w)"
)
_CODE = re.compile(
    r"(?<![\w.§-])(?P<category>[A-Za-z][0-9][0-9ABab]|[A-Z]A[0-9])"
    r"(?:(?P<dotted>\.[0-9A-Za-z]{1,4}(?:-(?!\w))?)|(?P<open>\.?-)(?!\w)|(?P<rest>[0-9A-Za-z]{2,4})|)(?![\w]|\.\w)"
)
# A bare category (I10) is a code where the words around it say so.
_CODE_BEFORE = re.compile(
    r"(?:\b(?:sub)?(?:codes?|categor(?:y|ies)|ICD-?10(?:-CM)?)\s*[:(]?\s*|[(\[]\s*)$", re.IGNORECASE
)
# ... or where it stands before its title: "Z79 Long-term", "B20, Human".
_TITLE_AFTER = re.compile(r",?[^\S\n]+[A-Z][a-z]{3,}")
# Codes of other systems look alike: HCPCS J3301, CPT.
_OTHER_SYSTEM = re.compile(r"\b(?:HCPCS|CPT|NDC)(?:\s+codes?)?\s*$", re.IGNORECASE)
_CODE_JOINT = re.compile(rf"\s*(?:,\s*(?:and|or)\b|[,;/]|\band\b|\bor\b|\bto\b|{_DASH})\s*")


def _make(kind: str, key: str, **fields: Any) -> Reference:
    return Reference(kind, key, sources=_SOURCES.get(kind, ("tabular",)), **fields)


# -- a whole text


def parse_reference(text: str) -> Reference | None:
    """A code, a range of categories, a chapter, a coding guideline; any other words are read, as
    a guess, as the path of an index entry, so that a lookup can answer for them."""
    return _guideline(text) or _code(text) or _chapter(text) or _index_path(text)


def _guideline(text: str) -> Reference | None:
    if _APPENDIX.fullmatch(text):
        return _make("guideline_section", "Appendix I")
    found = _SECTION.fullmatch(text)
    if found is None:
        return None
    levels = re.findall(r"[A-Za-z]+|\d+", found["deeper"])
    roman = found["roman"].upper()
    if levels:
        if roman == "I" and levels[0].upper() not in "ABC":
            return None  # Section I has A to C; I.Q. is an entry of the index
        levels = [levels[0].upper(), *(level.lower() for level in levels[1:])]
    return _make("guideline_section", ".".join([_ROMANS.get(roman, roman), *levels]))


def _code(text: str) -> Reference | None:
    span = _RANGE.fullmatch(text)
    if span is not None:
        first, last = span["first"].upper(), span["last"].upper()
        return _make("code_range", f"{first}-{last}", through=last)
    if _TOO_LONG.fullmatch(text):
        raise BadReference(
            f"{text!r} is too long for a code: no ICD-10-CM code has more than seven characters"
        )
    return _make("code", normalise_code(text)) if is_code(text) else None


def _chapter(text: str) -> Reference | None:
    found = _CHAPTER.fullmatch(text)
    if found is not None:
        return _make("chapter", f"Chapter {int(found['number'])}")
    return _make("chapter", text) if _INTRODUCTION.fullmatch(text) else None


def _index_path(text: str) -> Reference | None:
    terms = [term.strip() for term in text.split(" > " if " > " in text else ">")]
    if not all(terms):
        return None
    key = " > ".join(terms)
    if len(terms) == 1:
        if _MALFORMED.search(text) or _TERM.fullmatch(text) is None:
            return None
        letter = re.fullmatch(r"letter ([A-Za-z])", text, re.IGNORECASE)
        if letter is not None:
            key = f"Letter {letter.group(1).upper()}"
    return _make("index_path", key, guess=True)


# -- in running text


def find_references(text: str, typed: bool) -> Iterator[Reference]:
    """Coding guidelines, codes and ranges of them.

    A code needs its dot, or five characters, or words that show what it is: *code* before it, its
    title after it. Index paths are not looked for: any words could be one.
    """
    yield from _guidelines(text)
    yield from _codes(text)


def _guidelines(text: str) -> Iterator[Reference]:
    for found in _SECTION_IN_TEXT.finditer(text):
        numbered = (found["named"] or found["alone"]) + (found["number"] or "")
        deeper = re.findall(r"[a-z]+|\d+", found["deeper"]) if found["number"] else []
        end = found.end("deeper") if deeper else max(found.end("number"), found.end("named"))
        key = ".".join([re.sub(r"\s", "", numbered), *deeper])
        yield _at("guideline_section", key, text, found.start(), end)


def _at(kind: str, key: str, text: str, start: int, end: int, through: str = "") -> Reference:
    return _make(kind, key, span=(start, end), text=text[start:end], through=through)


def _codes(text: str) -> Iterator[Reference]:
    for found in _RANGE_IN_TEXT.finditer(text):
        key = f"{found['first']}-{found['last']}"
        yield _at("code_range", key, text, *found.span(), through=found["last"])
    for found in _CODES_RANGE.finditer(text):
        yield _at("code", found["first"], text, *found.span("first"), through=found["last"])
        yield _at("code", found["last"], text, *found.span("last"))
    last_end = -1
    for found in _CODE.finditer(text):
        start, end = found.span()
        typed = found.group()
        joined = last_end >= 0 and _CODE_JOINT.fullmatch(text, last_end, start) is not None
        if found["rest"] is not None:
            before = text[max(0, start - 12) : start]
            sure = _unmistakable(typed) and not _OTHER_SYSTEM.search(before)
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
            yield _at("code", normalise_code(typed), text, start, end)


def _unmistakable(code: str) -> bool:
    """Whether a code without its dot cannot be another thing: E1122, S72002A, W11XXXA."""
    digits = sum(character.isdigit() for character in code)
    return digits >= 4 or (len(code) == 7 and "XX" in code.upper())
