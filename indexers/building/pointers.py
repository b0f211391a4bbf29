"""Where the manuals say to go next: the pointers that each section carries.

| kind | from | to | words |
|---|---|---|---|
| `index_entry_to_code` | entry of an index | Tabular section of its code | the entry's path |
| `table_cell_to_code` | entry of the drug or neoplasm table | the same | path and column head |
| `see`, `see_also` | entry of an index | the entry named; its codes' sections | the entry's path |
| `code_first`, `use_additional_code`, `code_also`, `excludes` | note of the Tabular List | codes and ranges it names | title and note |
| `guideline_to_code` | coding guideline | codes and ranges it names | title and paragraph |
| `appendix_a` | statute in Title 18, and its row | guidelines of the row | the statute's title |
| `cross_reference` | paragraph of any manual | section it names | the paragraph |

The words of a pointer are what a query must share to follow it: of a main term with 200 entries
only the entries whose path looks like the query point anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from manuals.icd10cm.codes import is_code, normalise_code
from manuals.model.keys import Reference, find_references
from manuals.model.sections import Manual, Note, Section
from manuals.ussg.statute_index import StatuteIndex

#: a range with more categories than this points nowhere: it says too little
MAX_CATEGORIES = 12
#: characters of a paragraph on either side of a reference that count as its words
AROUND = 300

_NOTES = {
    "codeFirst": "code_first",
    "useAdditionalCode": "use_additional_code",
    "codeAlso": "code_also",
    "excludes1": "excludes",
    "excludes2": "excludes",
}
_INDEXES = ("index", "eindex", "drugs", "neoplasm")
#: first words of a ``see`` -> the table that it means
_TABLES = {
    "neoplasm": "neoplasm",
    "table of neoplasms": "neoplasm",
    "table of drugs and chemicals": "drugs",
}
_VERSION = re.compile(r"#\d+$")
_BRACKETS = re.compile(r"\([^)]*\)")
_CATEGORY = re.compile(r"[A-Z]\d\w")
#: notes, credits and footnotes tell of the law's history, not where to go
_APPARATUS = re.compile(r" (?:Notes|Source Credit|Footnotes|Historical Note)(?: > .*)?(?:#\d+)?$")


class Target(NamedTuple):
    """A section by source and key; the table finds the edition."""

    source: str
    key: str


class Pointer(NamedTuple):
    """``section`` points to ``targets``; ``offset`` is a place in the manual's text where it
    does, by which the chunk is found."""

    kind: str
    section: Section
    offset: int
    targets: tuple[Target, ...]
    words: str


#: source -> the manual of the edition that pointers of this manual mean, if there is one
Others = Callable[[str], Manual | None]


def pointers(manual: Manual, others: Others) -> Iterator[Pointer]:
    """All pointers of one manual, in document order of the sections for each kind of rule."""
    if manual.source in _INDEXES:
        yield from _of_index(manual, others)
    elif manual.source == "tabular":
        yield from _of_tabular(manual)
    else:
        yield from _in_text(manual, others)
    if manual.source == "title18":
        yield from _of_statutes(manual, others)
    elif manual.source == "ussg":
        yield from _of_rows(manual, others)


# -- index


def _of_index(manual: Manual, others: Others) -> Iterator[Pointer]:
    tabular = others("tabular")
    find = _code_finder(tabular) if tabular else None
    books = _Books(manual, others)
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
                targets = tuple(_seen(ref.target, books, find))
            if targets:
                yield Pointer(kind, entry, entry.span[0], targets, words)


def _seen(words: str, books: _Books, find: _CodeFinder | None) -> Iterator[Target]:
    """Targets of ``see ...``: a code, or an entry and the sections of its codes."""
    for reference in find_references(words.removeprefix("subcategory ")):
        yield from _codes(_range(reference), find)
    word = words.rsplit(" ", 1)[-1].rstrip("-.")
    if is_code(word):
        yield from _codes([normalise_code(word)], find)
        return
    entry, rest = books.find(words)
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


class _Books:
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


def _of_tabular(manual: Manual) -> Iterator[Pointer]:
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


# -- running text


def _in_text(manual: Manual, others: Others) -> Iterator[Pointer]:
    """References in the own text of each section, but for the apparatus and headings."""
    tabular = others("tabular") if manual.source == "guidelines" else None
    find = _code_finder(tabular) if tabular else None
    for section in manual.sections:
        # The rows of Appendix A have a rule of their own.
        if section.kind == "statute" or _APPARATUS.search(section.key):
            continue
        for start, end in manual.own_spans(section):
            text = manual.text[start:end]
            for reference in _references(text):
                kind, targets = _named(manual, reference, others, find)
                if targets and Target(manual.source, section.key) not in targets:
                    at = reference.span[0]
                    words = _around(text, reference)
                    if kind == "guideline_to_code":
                        words = f"{section.title} {words}"
                    yield Pointer(kind, section, start + at, targets, words)


@lru_cache(maxsize=16_384)
def _references(text: str) -> tuple[Reference, ...]:
    # The same paragraphs stand in several editions.
    return tuple(find_references(text))


def _around(text: str, reference: Reference) -> str:
    """The paragraph that holds a reference, at most ``AROUND`` characters on either side."""
    start, end = reference.span
    first = max(text.rfind("\n", 0, start) + 1, start - AROUND)
    last = text.find("\n", end)
    return text[first : min(len(text) if last < 0 else last, end + AROUND)]


def _named(
    manual: Manual, reference: Reference, others: Others, find: _CodeFinder | None
) -> tuple[str, tuple[Target, ...]]:
    if reference.kind in ("code", "code_range"):
        return "guideline_to_code", _codes(_range(reference), find)
    # The rows of Appendix A have a rule of their own.
    for source in () if reference.only_in_appendix else reference.sources:
        held = manual if source == manual.source else others(source)
        if held is None:
            continue
        for key in reference.candidates:
            if key in held.by_key:
                return "cross_reference", (Target(source, key),)
    return "cross_reference", ()


# -- Appendix A


def _of_statutes(title18: Manual, others: Others) -> Iterator[Pointer]:
    """Each statute of Title 18 to the guidelines of its rows in Appendix A."""
    ussg = others("ussg")
    if ussg is None:
        return
    appendix = StatuteIndex(ussg)
    for key in appendix.sections():
        statute = title18.by_key.get(key)
        if statute is None:
            continue
        for row in appendix.rows(key).rows:
            targets = _guidelines(row, ussg)
            if targets:
                yield Pointer("appendix_a", statute, statute.span[0], targets, statute.title)


def _of_rows(ussg: Manual, others: Others) -> Iterator[Pointer]:
    """Each row of Appendix A to its guidelines; its words are the statute's title."""
    title18 = others("title18")
    appendix = StatuteIndex(ussg)
    for key in appendix.sections():
        statute = title18.by_key.get(key) if title18 else None
        for row in appendix.rows(key).rows:
            targets = _guidelines(row, ussg)
            if targets:
                words = f"{row.title} {statute.title}" if statute else row.title
                yield Pointer("appendix_a", row, row.span[0], targets, words)


def _guidelines(row: Section, ussg: Manual) -> tuple[Target, ...]:
    return tuple(
        Target("ussg", ref.target)
        for ref in row.refs
        if ref.kind == "guideline" and ref.target in ussg.by_key
    )
