"""What a person types, and what a text cites, as keys of sections.

``parse_reference`` reads a text as a whole; ``find_references`` finds all in a running text. How a
manual is cited is for its source to say; the canonical keys of docs/architecture.md read as
themselves.
"""

from __future__ import annotations

import re
from dataclasses import replace

from manuals.model.reference import Reference
from manuals.model.source import SOURCES
from tam.errors import BadReference

__all__ = ["EXAMPLES", "LONGEST", "Reference", "find_references", "parse_reference"]

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

# One character for one, so that places in the text stay: full width forms (E11.22 as typed in a
# Chinese or Japanese text) as plain ones, characters without a width as spaces.
_PLAIN: dict[int, int | str] = {0xFF01 + offset: 0x21 + offset for offset in range(94)}
_PLAIN |= dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), " ")


def parse_reference(text: str) -> Reference:
    """The reference that a text as a whole is; ``BadReference`` when it is none.

    The first source that reads it says; words that are nothing else are whatever a source guesses
    them to be.
    """
    clean = re.sub(r"\s+", " ", text.translate(_PLAIN)).strip()
    if len(clean) > LONGEST:
        raise BadReference(
            f"{clean[:60]!r}... is longer than {LONGEST:,} characters; give one reference"
        )
    plain, version = _split_version(clean)
    guess: Reference | None = None
    # Sources of one family share their functions.
    for parse in dict.fromkeys(source.parse_reference for source in SOURCES.values()):
        reference = parse(plain)
        if reference is not None and not reference.guess:
            break
        guess = guess or reference
    else:
        reference = guess
    if reference is None:
        shown = text if len(text) <= 60 else text[:57] + "..."
        raise BadReference(f"{shown!r} is not a reference; write one like {', '.join(EXAMPLES)}")
    return replace(reference, version=version, span=(0, len(text)), text=text)


def _split_version(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(?P<key>.+?)\s?#(?P<version>[1-9]\d?)", text)
    return (found["key"], int(found["version"])) if found else (text, 1)


def find_references(text: str, *, typed: bool = False) -> list[Reference]:
    """All references in a running text, in its order, none overlapping.

    ``typed`` says that a person wrote the text (a query, a case): then ``§ 924(c)`` and ``924(c)``
    count too, which in the manuals' own text they often do not (``Pub. L. 98-473, §218(a)``).
    *This title* is Title 18.

    Each member of a list is a reference of its own. A range of statutes, subdivisions, guidelines
    or codes gives both its ends, the first with ``through`` set to the last one's full key; a
    range of ICD categories is one reference of kind ``code_range`` with ``through`` its end.
    """
    plain = text.translate(_PLAIN)
    finders = dict.fromkeys(source.find_references for source in SOURCES.values())
    found = [reference for find in finders for reference in find(plain, typed)]
    # Of two on one place the longer one counts, then the one that knows its range.
    found.sort(key=lambda each: (each.span[0], bool(each.text), -each.span[1], not each.through))
    kept: list[Reference] = []
    for reference in found:
        if not kept or reference.span[0] >= kept[-1].span[1]:
            kept.append(reference)
    if plain != text:
        kept = [replace(each, text=text[slice(*each.span)]) for each in kept]
    return kept
