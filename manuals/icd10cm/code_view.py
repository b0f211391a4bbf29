"""Looking a code up in a Tabular List: seventh characters, inherited notes, validity.

The file lists a code that takes a seventh character by its stem only, and defines the characters
once, at a category or subcategory or at the code itself; the definition nearest above binds. A
code with a seventh character has exactly seven: a shorter stem is filled with the placeholder X.
(Tabular List, introduction, "7th characters and placeholder X"; Guidelines, Section I.A.4-5.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from manuals.icd10cm.codes import normalise_code, undotted
from manuals.model.sections import Manual, Note, Section
from tam.errors import BadReference, UnknownKey

#: characters of a code that has a seventh
FULL = 7
CODE_KINDS = frozenset({"category", "subcategory", "code"})

#: "7th characters D and S do not apply to codes in category S06 with 6th character 7 - ..., or 8"
_EXCEPTION = re.compile(
    r"7th characters? (?P<characters>[0-9A-Z](?:(?:, | and | or |, and |, or )[0-9A-Z])*) "
    r"do(?:es)? not apply to codes in (?:sub)?category (?P<code>[A-Z]\w\w(?:\.\w+)?)-? "
    r"with (?P<place>[4-6])th characters? (?P<values>[^.]*)"
)
_ALONE = re.compile(r"(?<![\w-])[0-9A-Z](?!\w)")


@dataclass(frozen=True, slots=True)
class BindingNote:
    """A note that binds a code, and the section (the code's own or one above) it stands at."""

    note: Note
    section: Section


@dataclass(frozen=True, slots=True)
class CodeView:
    """A code as an edition has it.

    ``section`` is the code's own or, of a code with a seventh character, its stem's. ``valid``
    says whether it can be billed: nothing is below it and no character is missing. ``notes`` are
    outermost first, the code's own last; ``sevenths`` are the seventh characters that apply to it
    or, where codes stand below, to those, defined at the section ``sevenths_from``.
    """

    code: str
    section: Section
    seventh: str
    meaning: str
    valid: bool
    notes: tuple[BindingNote, ...]
    parents: tuple[Section, ...]
    children: tuple[Section, ...]
    sevenths: tuple[tuple[str, str], ...]
    sevenths_from: str | None

    @property
    def title(self) -> str:
        """The description, with the meaning of the seventh character."""
        return f"{self.section.title}, {self.meaning}" if self.meaning else self.section.title

    @property
    def complete(self) -> tuple[str, ...]:
        """The complete codes of this stem, one for each seventh character that applies."""
        if self.seventh or self.children:
            return (self.code,) if self.valid else ()
        return tuple(with_seventh(self.section.key, char) for char, _ in self.sevenths)


def with_seventh(stem: str, character: str) -> str:
    """``S72.1``, ``A`` -> ``S72.1XXA``: the stem filled with X to six, then the character."""
    return normalise_code(undotted(stem).ljust(FULL - 1, "X") + character)


def is_leaf(manual: Manual, section: Section) -> bool:
    """Whether the section is a code with no code below it."""
    return section.kind in CODE_KINDS and not manual.children(section)


def seventh_characters(
    manual: Manual, section: Section
) -> tuple[tuple[tuple[str, str], ...], Section | None]:
    """The seventh characters that apply to a leaf, and the section that defines them.

    Empty for a section with codes below it and for a code that has seven characters by itself.
    """
    if not is_leaf(manual, section) or len(undotted(section.key)) >= FULL:
        return (), None
    at = _definition(manual, section)
    if at is None:
        return (), None
    barred = _barred(manual, section, at)
    return tuple(pair for pair in at.seventh if pair[0] not in barred), at


def _definition(manual: Manual, section: Section) -> Section | None:
    """The section nearest above (or this one) that defines seventh characters."""
    at: Section | None = section
    while at is not None and not at.seventh:
        at = manual.by_key[at.parent] if at.parent else None
    return at


def _barred(manual: Manual, section: Section, at: Section) -> frozenset[str]:
    """Characters that a note between a code and the definition takes out for it."""
    code = undotted(section.key).ljust(FULL - 1, "X")
    barred: set[str] = set()
    above: Section | None = section
    while above is not None:
        for note in above.notes:
            if note.kind not in ("notes", "sevenChrNote") or "not apply" not in note.text:
                continue
            for found in _EXCEPTION.finditer(note.text):
                if code.startswith(undotted(found["code"])) and code[
                    int(found["place"]) - 1
                ] in _ALONE.findall(found["values"]):
                    barred.update(_ALONE.findall(found["characters"]))
        if above is at or above.parent is None:
            break
        above = manual.by_key[above.parent]
    return frozenset(barred)


def all_codes(manual: Manual) -> Iterator[str]:
    """Every valid code in document order, those with a seventh character included."""
    for section in manual.sections:
        if is_leaf(manual, section):
            sevenths, at = seventh_characters(manual, section)
            if at is None:
                yield section.key
            for character, _ in sevenths:
                yield with_seventh(section.key, character)


def look_up_code(manual: Manual, code: str) -> CodeView:
    """A code, typed with or without its dot and in either case, in one edition.

    Raises ``BadReference`` for what has not the form of a code, and ``UnknownKey`` for a code
    that the edition does not hold; the message says why, ``nearest`` what there is.
    """
    key = normalise_code(code)
    section = manual.by_key.get(key)
    if section is not None and section.kind in CODE_KINDS:
        return _view(manual, key, section, "")
    stem, seventh = _split(manual, key)
    if stem is None:
        raise _unknown(manual, key)
    return _view(manual, key, stem, seventh)


def _split(manual: Manual, key: str) -> tuple[Section | None, str]:
    """The stem of a code that is not listed itself, and its seventh character.

    A stem filled with X and without the character (``S72.1XX``) is found too, as incomplete.
    """
    characters = undotted(key)
    stem = characters[: FULL - 1]
    while len(stem) >= 3:
        section = manual.by_key.get(normalise_code(stem))
        if section is not None and section.kind in CODE_KINDS:
            sevenths, _ = seventh_characters(manual, section)
            seventh = characters[FULL - 1 :]
            if sevenths and (not seventh or seventh in dict(sevenths)):
                return section, seventh
            return None, ""
        if not stem.endswith("X"):
            break
        stem = stem[:-1]
    return None, ""


def _view(manual: Manual, code: str, section: Section, seventh: str) -> CodeView:
    sevenths, at = seventh_characters(manual, section)
    parents = manual.ancestors(section)
    leaf = is_leaf(manual, section)
    if not leaf:
        at = _definition(manual, section)
        sevenths = at.seventh if at else ()
    return CodeView(
        code=code,
        section=section,
        seventh=seventh,
        meaning=dict(sevenths).get(seventh, ""),
        valid=leaf and (at is None or bool(seventh)),
        notes=tuple(
            BindingNote(note, place) for place in (*parents, section) for note in place.notes
        ),
        parents=parents,
        children=manual.children(section),
        sevenths=sevenths,
        sevenths_from=at.key if at else None,
    )


def _unknown(manual: Manual, key: str) -> UnknownKey:
    """Why a code is not there, with the codes of the longest part of it that is."""
    characters = undotted(key)
    for length in range(len(characters), 2, -1):
        try:
            section = manual.by_key.get(normalise_code(characters[:length]))
        except BadReference:
            break
        if section is None or section.kind not in CODE_KINDS:
            continue
        sevenths, _ = seventh_characters(manual, section)
        below = manual.children(section)
        if sevenths:
            allowed = ", ".join(char for char, _ in sevenths)
            example = with_seventh(section.key, sevenths[0][0])
            nearest = [with_seventh(section.key, char) for char, _ in sevenths]
            reason = (
                f"{section.key} takes exactly seven characters, the last one of {allowed} "
                f"(such as {example})"
            )
        elif below:
            nearest = [child.key for child in below]
            reason = f"below {section.key} stand {nearest[0]} to {nearest[-1]}"
        else:
            nearest = [section.key]
            reason = f"{section.key} has no further characters"
        return UnknownKey(
            f"{manual.edition.name} has no code {key}: {reason}", nearest=nearest[:10]
        )
    return UnknownKey(f"{manual.edition.name} has no code {key} and no category {characters[:3]}")
