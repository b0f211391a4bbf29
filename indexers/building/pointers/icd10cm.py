"""Pointers of the ICD-10-CM manuals: of index entries, of notes, of coding guidelines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from indexers.building.pointers.general import Others, Pointer, Target, in_text, named
from manuals.icd10cm.codes import CATEGORY, is_code, normalise_code
from manuals.model.keys import Reference, find_references
from manuals.model.sections import Manual, Note, Section

#: a range with more categories than this points nowhere: it says too little
MAX_CATEGORIES = 12

_NOTES = {
    "codeFirst": "code_first",
    "useAdditionalCode": "use_additional_code",
    "codeAlso": "code_also",
    "excludes1": "excludes",
    "excludes2": "excludes",
}
#: first words of a ``see`` -> the table that it means
_TABLES = {
    "neoplasm": "neoplasm",
    "table of neoplasms": "neoplasm",
    "table of drugs and chemicals": "drugs",
}
_VERSION = re.compile(r"#\d+$")
_BRACKETS = re.compile(r"\([^)]*\)")
_CATEGORY = re.compile(CATEGORY)


def of_index(manual: Manual, others: Others) -> Iterator[Pointer]:
    tabular = others("tabular")
    find = _code_finder(tabular) if tabular else None
    see = _SeeFinder(manual, others)
    for entry in manual.sections:
        path = _VERSION.sub("", entry.key)
        for ref in entry.refs:
            kind = {
                "code": "index_entry_to_code",
                "manifestation": "index_entry_to_code",
                "cell": "table_cell_to_code",
            }.get(ref.kind, ref.kind)
            words = f"{path} {ref.condition}".strip()
            if kind not in ("see", "see_also"):
                targets = _codes([ref.target], find)
            else:
                targets = tuple(_seen(ref.target, see, find))
            if targets:
                yield Pointer(kind, entry, entry.span[0], targets, words)


def _seen(words: str, see: _SeeFinder, find: _CodeFinder | None) -> Iterator[Target]:
    """Targets of ``see ...``: a code, or an entry and the sections of its codes."""
    for reference in find_references(words.removeprefix("subcategory ")):
        yield from _codes(_range(reference), find)
    word = words.rsplit(" ", 1)[-1].rstrip("-.")
    if is_code(word):
        yield from _codes([normalise_code(word)], find)
        return
    entry, rest = see.find(words)
    if entry is not None:
        yield Target(entry.source, entry.key)
        yield from _codes(_codes_of(entry, rest), find)


def _codes_of(entry: Section, rest: Sequence[str]) -> list[str]:
    """The codes of an entry; of one in a table those of the column that the words name."""
    codes = [ref.target for ref in entry.refs if ref.kind == "code"]
    cells = [
        ref.target
        for ref in entry.refs
        if ref.kind == "cell" and any(part in ref.condition.casefold() for part in rest)
    ]
    return codes + cells[:1]


class _SeeFinder:
    """The index itself, and the tables that it sends to."""

    def __init__(self, manual: Manual, others: Others) -> None:
        self._own = _Entries(manual)
        self._tables: dict[str, _Entries] = {}
        for source in sorted(set(_TABLES.values()) - {manual.source}):
            table = others(source)
            if table is not None:
                self._tables[source] = _Entries(table)

    def find(self, words: str) -> tuple[Section | None, Sequence[str]]:
        """The entry that ``see`` words lead to, and the words that led no further."""
        parts = [part.strip() for part in _BRACKETS.sub("", words).casefold().split(",")]
        table = self._tables.get(_TABLES.get(parts[0], ""))
        if table is not None:
            wanted = parts if parts[0] == "neoplasm" else parts[1:]
            found, rest = table.find(wanted)
            if found is not None and (found.refs or parts[0] != "neoplasm"):
                return found, rest
        return self._own.find(parts)


class _Entries:
    """The entries of one index by the words that ``see`` names them with."""

    def __init__(self, manual: Manual) -> None:
        self._manual = manual
        self._main: dict[str, Section] = {}
        main = [(_names(term), term) for term in manual.sections if term.kind == "main_term"]
        for place in range(max((len(names) for names, _ in main), default=0)):
            for names, term in main:
                if place < len(names):
                    self._main.setdefault(names[place], term)

    def find(self, parts: Sequence[str]) -> tuple[Section | None, Sequence[str]]:
        """The deepest entry that the words lead to, and the rest of them.

        ``injury``, ``nerve``, ``femoral`` is ``Injury > nerve NEC > femoral``. Words that lead
        nowhere (``by site``) end the way.
        """
        for taken in range(len(parts), 0, -1):
            name = ", ".join(parts[:taken])
            entry = self._main.get(name) or self._main.get(name.removesuffix("s"))
            if entry is not None:
                return self._below(entry, parts[taken:])
        return None, parts

    def _below(self, entry: Section, parts: Sequence[str]) -> tuple[Section, Sequence[str]]:
        for at, part in enumerate(parts):
            children = self._manual.children(entry)
            named = [child for child in children if part in _names(child)]
            if not named:
                # "with" and "due to" stand between.
                inner = [each for child in children for each in self._manual.children(child)]
                named = [each for each in inner if part in _names(each)]
            if not named:
                return entry, parts[at:]
            entry = named[0]
        return entry, ()


#: letters in which forms of one word agree: obstruction, obstructed
_FORM = 3


@lru_cache(maxsize=200_000)
def _title_names(title: str) -> tuple[str, ...]:
    whole = title.casefold()
    plain = whole.removesuffix(" nec").removesuffix(" nos")
    first, *others = (part.strip() for part in plain.split(","))
    forms = (part for part in others if part[:_FORM] == first[:_FORM])
    return tuple(dict.fromkeys((whole, plain, first, *forms)))


def _names(entry: Section) -> tuple[str, ...]:
    """What an entry is called, best first: whole, without NEC, by each form of its first word."""
    return _title_names(_VERSION.sub("", entry.key).rsplit(" > ", 1)[-1])


# -- codes

_CodeFinder = Callable[[str], tuple[Target, ...]]


def _code_finder(tabular: Manual) -> _CodeFinder:
    categories = [s.key for s in tabular.sections if _CATEGORY.fullmatch(s.key)]

    @lru_cache(maxsize=200_000)
    def find(code: str) -> tuple[Target, ...]:
        """The section of a code, of its stem, or of each category of a small range."""
        if "-" in code:
            first, last = code.split("-")
            inside = [key for key in categories if first <= key <= last]
            return tuple(Target("tabular", key) for key in inside[:MAX_CATEGORIES])[
                : 0 if len(inside) > MAX_CATEGORIES else None
            ]
        while len(code) >= 3:
            if code in tabular.by_key:
                return (Target("tabular", code),)
            # A seventh character and the placeholders before it stand in no key of their own.
            if len(code) < 8 and not code.endswith("X"):
                break
            code = code[:-1].rstrip(".")
        return ()

    return find


def _codes(codes: Sequence[str], find: _CodeFinder | None) -> tuple[Target, ...]:
    if find is None:
        return ()
    return tuple(dict.fromkeys(target for code in codes for target in find(code)))


def _range(reference: Reference) -> tuple[str, ...]:
    return (reference.key,) if reference.kind in ("code", "code_range") else ()


def of_tabular(manual: Manual, others: Others) -> Iterator[Pointer]:
    find = _code_finder(manual)
    for section in manual.sections:
        for note in section.notes:
            kind = _NOTES.get(note.kind)
            if kind is None:
                continue
            targets = _codes(_codes_in(note), find)
            if targets:
                words = f"{section.title} {note.text}"
                yield Pointer(kind, section, section.span[0], targets, words)


def _codes_in(note: Note) -> list[str]:
    return [code for reference in find_references(note.text) for code in _range(reference)]


def of_guidelines(manual: Manual, others: Others) -> Iterator[Pointer]:
    """Codes and ranges that a guideline names, and sections of the guidelines themselves."""
    tabular = others("tabular")
    find = _code_finder(tabular) if tabular else None
    for pointer in in_text(manual, partial(_named, manual, others, find)):
        if pointer.kind == "guideline_to_code":
            pointer = pointer._replace(words=f"{pointer.section.title} {pointer.words}")
        yield pointer


def _named(
    manual: Manual, others: Others, find: _CodeFinder | None, reference: Reference
) -> tuple[str, tuple[Target, ...]]:
    if reference.kind in ("code", "code_range"):
        return "guideline_to_code", _codes(_range(reference), find)
    return named(manual, others, reference)
