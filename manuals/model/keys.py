"""What a person types, and what a text cites, as keys of sections.

``parse_reference`` reads a text as a whole; ``find_references`` finds all in a running text. The
canonical keys of docs/architecture.md read as themselves.
"""

from __future__ import annotations

import re
from dataclasses import replace

from manuals.icd10cm.codes import CATEGORY, is_code, normalise_code, undotted
from manuals.model.citations import CHAPTER_NUMBER, GUIDELINE, find_references, ussg_group
from manuals.model.reference import SOURCES_OF, Kind, Reference
from manuals.uscode.statutes import DASH, find_statutes, names_of
from tam.errors import BadReference

__all__ = [
    "EXAMPLES",
    "Reference",
    "find_references",
    "is_code",
    "normalise_code",
    "parse_reference",
    "undotted",
]

#: characters of the longest text that is read as one reference; the manuals' keys are far shorter
LONGEST = 2_000

EXAMPLES = (
    "18 USC 922(g)(1)",
    "18 USC chapter 44",
    "2K2.1(b)(4)",
    "2K2.1 application note 3",
    "USSG Chapter 2, Part K",
    "Appendix A 18 USC 924(c)",
    "E11.22",
    "E08-E13",
    "Chapter 4",
    "I.C.2.e",
    "Abscess > brain",
)

_USC_START = r"(?P<title>\d{1,2})\s?U\.?\s?S\.?\s?(?:C(?:ode)?\.?)"
_GROUP_OF_TITLE = re.compile(
    rf"{_USC_START}(?:,?\s(?:Part\s(?P<part>[IVX]+)"
    r"|(?:Chapter|Ch\.?)\s(?P<chapter>\d{1,3}[A-Z]?)(?:,?\sSubchapter\s(?P<sub>[A-Z]|[IVX]+))?))?",
    re.IGNORECASE,
)
_STATUTE_PART = re.compile(
    r"\s(?:(?P<notes>Notes?)(?P<heading>\s>\s.+)?|(?P<credit>Source Credit)|(?P<foot>Footnotes))$",
    re.IGNORECASE,
)
_APPENDIX = re.compile(
    r"App(?:endix|\.)\s?(?P<name>A|I)(?:(?:\s?>\s?|,?\s)(?P<row>.+))?", re.IGNORECASE
)

_USSG = r"(?:(?:U\.?S\.?S\.?G\.?|Guidelines(?:\sManual)?)\s?)"
_USSG_GROUP = re.compile(
    rf"{_USSG}?(?:Chapter|Ch\.?)\s(?P<chapter>{CHAPTER_NUMBER})"
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
_GUIDELINE = re.compile(
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
_PARTS_OF_GUIDELINES = {
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

# The levels are possessive (*+): a word can be cut into them in many ways, of which none matters.
_GUIDELINE_SECTION = re.compile(
    r"(?P<named>(?:Guidelines?\s)?Section\s|Guidelines?\s)?(?P<roman>IV|I{1,3}|[1-4](?=\.[A-Z]))"
    r"(?P<deeper>(?:\.\s?[A-Z](?:\.\s?\d{1,2}(?:[.\s]{0,2}\(?[a-z0-9]{1,4}\)?)*+)?)?)\.?",
    re.IGNORECASE,
)
_ROMANS = {"1": "I", "2": "II", "3": "III", "4": "IV"}
_CODE_RANGE = re.compile(rf"(?P<first>{CATEGORY})\s?{DASH}\s?(?P<last>{CATEGORY})", re.IGNORECASE)
_TABULAR_CHAPTER = re.compile(r"Chapter\s(?P<number>\d{1,2})", re.IGNORECASE)
_TABULAR_INTRODUCTION = re.compile(r"Introduction(?:\s>\s\S.*)?")
_TOO_LONG = re.compile(r"[A-Z]\d[0-9AB]\.?[0-9A-Z]{5,}", re.IGNORECASE)
# A term of an index: starts with a letter, or with a number that is part of a name (2,4-D).
_TERM = re.compile(r"(?=[^§]*[^\W\d_])(?:[^\W\d_]|['\"‘“(\[]|\d+(?:[,.']\d+)*['’]?-[^\W\d_])[^§>]*")
_MALFORMED = re.compile(
    r"\bU\.?\s?S\.?\s?(?:C\b|Code)|\bUSSG\b|\bsections?\s*\d|^\d+\s|^\d+\w?\(", re.I
)


def _make(kind: Kind, key: str, **fields: str | tuple[str, ...]) -> Reference:
    made = Reference(kind, key, sources=SOURCES_OF[kind])
    return replace(made, **fields) if fields else made  # type: ignore[arg-type]


def parse_reference(text: str) -> Reference:
    """The reference that a text as a whole is; ``BadReference`` when it is none.

    ``§ 924``, ``section 924`` and ``924(c)`` mean Title 18; ``Chapter 4`` means the Tabular List
    (write ``USSG Chapter 4`` or ``18 USC chapter 4``). Words that are nothing else are read as
    the path of an index entry, so that a lookup can answer for them.
    """
    clean = re.sub(r"[\s\u200b\ufeff]+", " ", text).strip()
    if len(clean) > LONGEST:
        raise BadReference(
            f"{clean[:60]!r}... is longer than {LONGEST:,} characters; give one reference"
        )
    plain, version = _split_version(clean)
    for read in (
        _appendix,
        _group_of_title,
        _statute,
        _guideline_section,
        _code,
        _chapter,
        _guideline,
        _index_path,
    ):
        reference = read(plain)
        if reference is not None:
            return replace(reference, version=version, span=(0, len(text)), text=text)
    raise _bad(text)


def _bad(text: str) -> BadReference:
    shown = text if len(text) <= 60 else text[:57] + "..."
    return BadReference(f"{shown!r} is not a reference; write one like {', '.join(EXAMPLES)}")


def _split_version(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(?P<key>.+?)\s?#(?P<version>[1-9]\d?)", text)
    return (found["key"], int(found["version"])) if found else (text, 1)


def _appendix(text: str) -> Reference | None:
    found = _APPENDIX.fullmatch(text)
    if found is None:
        return None
    if found["name"].upper() == "I":
        return None if found["row"] else _make("guideline_section", "Appendix I")
    if not found["row"]:
        return _make("appendix_a", "Appendix A")
    if found["row"].lower() == "historical note":
        return _make("appendix_a", "Appendix A", part="Historical Note")
    row = _statute(found["row"])
    if row is not None and row.part == "Notes":
        # A row of its own: statutes printed as a note below the section.
        row = replace(row, key=f"{row.key} note", part="")
    if row is None:
        return _make("appendix_a", f"Appendix A > {found['row']}") if ">" in text else None
    return replace(
        row, kind="appendix_a", key=f"Appendix A > {row.key}", sources=SOURCES_OF["appendix_a"]
    )


def _statute_part(text: str) -> tuple[str, str]:
    """The text without the part of a statute at its end, and that part in normal form."""
    found = _STATUTE_PART.search(text)
    if found is None:
        return text, ""
    part = "Source Credit" if found["credit"] else "Footnotes" if found["foot"] else "Notes"
    return text[: found.start()], part + (found["heading"] or "")


def _group_of_title(text: str) -> Reference | None:
    text, part = _statute_part(text)
    found = _GROUP_OF_TITLE.fullmatch(text)
    if found is None or (text.lower() != "18 u.s.c." and not (found["part"] or found["chapter"])):
        return None
    title = int(found["title"])
    key = f"{title} U.S.C."
    if found["part"]:
        key += f" Part {found['part'].upper()}"
    elif found["chapter"]:
        key += f" Chapter {found['chapter'].upper()}"
        if found["sub"]:
            key += f", Subchapter {found['sub'].upper()}"
    sources = SOURCES_OF["statute_group"] if title == 18 else ()
    return _make("statute_group", key, part=part, sources=sources)


def _statute(text: str) -> Reference | None:
    text, part = _statute_part(text)
    found = list(find_statutes(text, typed=True))
    found = [reference for reference in found if reference.span == (0, len(text.rstrip(".")))]
    return replace(found[0], part=part or found[0].part) if found else None


def _guideline_section(text: str) -> Reference | None:
    found = _GUIDELINE_SECTION.fullmatch(text)
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
    span = _CODE_RANGE.fullmatch(text)
    if span is not None:
        first, last = span["first"].upper(), span["last"].upper()
        return _make("code_range", f"{first}-{last}", through=last)
    if _TOO_LONG.fullmatch(text):
        raise BadReference(
            f"{text!r} is too long for a code: no ICD-10-CM code has more than seven characters"
        )
    return _make("code", normalise_code(text)) if is_code(text) else None


def _chapter(text: str) -> Reference | None:
    found = _TABULAR_CHAPTER.fullmatch(text)
    if found is not None:
        return _make("chapter", f"Chapter {int(found['number'])}")
    if _TABULAR_INTRODUCTION.fullmatch(text):
        return _make("chapter", text)
    if _SENTENCING_TABLE.fullmatch(text):
        return _make("guideline_group", ussg_group("5", "A"), part="Sentencing Table")
    group = _USSG_GROUP.fullmatch(text)
    if group is None:
        return None
    key = ussg_group(group["chapter"], group["part"], group["subpart"])
    part = group["heading"] or _part_of_guidelines(group["tail"] or "")
    return None if part is None else _make("guideline_group", key, part=part)


def _part_of_guidelines(tail: str) -> str | None:
    """The normal form of a subheading or note; ``None`` for other words, and "" for none."""
    note = _NOTE.fullmatch(tail)
    if note is not None:
        return f"Application Note {int(note['note'])}"
    return _PARTS_OF_GUIDELINES.get(tail.lower()) if tail else ""


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
    found = _GUIDELINE.fullmatch(text)
    part = _part_of_guidelines(found["tail"] or "") if found is not None else None
    if found is None or part is None:
        return None
    names = () if part.startswith("Application Note ") else names_of(found["subs"])
    return _make("guideline", f"§{found['number'].upper()}", subdivisions=names, part=part)


def _index_path(text: str) -> Reference | None:
    terms = [term.strip() for term in text.split(" > " if " > " in text else ">")]
    if not all(terms):
        return None
    if len(terms) == 1:
        if _MALFORMED.search(text) or _TERM.fullmatch(text) is None:
            return None
        letter = re.fullmatch(r"letter ([A-Za-z])", text, re.IGNORECASE)
        if letter is not None:
            return _make("index_path", f"Letter {letter.group(1).upper()}")
    return _make("index_path", " > ".join(terms))
