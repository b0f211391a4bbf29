"""Known-item query sets that the manuals themselves provide.

Anyone can compare retrievers with them, without patient data or case files. A set's population
are all candidates of its editions; a sample is exact and does not depend on this computer: the
candidates are ordered by the sha256 of seed, set, year, text and golds, and the first n are taken,
so that a smaller sample is the beginning of a larger one.

A candidate is dropped, and counted, when its words alone name several sections (``ambiguous``),
when they are a title or note of its gold (``copy``; not in sets that repeat the gold's text and
say so), or when its gold is not in the edition (``no gold``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from eval.golds.gold import DIRECT, NEAR, Gold, Origin
from eval.queries.query_sets import Query, QuerySet, SetInfo
from manuals.icd10cm.code_view import look_up_code
from manuals.library.editions import Library
from manuals.model.sections import Manual, Section
from manuals.ussg.statute_index import StatuteIndex
from tam.errors import BadOption, UnknownKey
from tam.files import sha256_text

_VERSION = re.compile(r"#\d+$")
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text and the sections that it is to find, all in one manual."""

    text: str
    sections: tuple[Section, ...]


#: reason -> number of candidates dropped for it
Dropped = Counter[str]
Rule = Callable[[Library, int, Dropped], Iterator[Candidate]]


@dataclass(frozen=True, slots=True)
class KnownItems:
    """A kind of set. ``needs`` are the sources of which an edition of the year must be here; the
    first is the one searched."""

    name: str
    sentence: str
    needs: tuple[str, ...]
    rule: Rule
    origin: Origin
    grade: int
    text_from: str
    repeats_gold_text: bool = False
    made_from: tuple[str, ...] = ()


def normalised(text: str) -> str:
    """The words of a text in order, without case and punctuation."""
    return " ".join(_WORDS.findall(text.casefold()))


def is_copy(text: str, sections: Iterable[Section]) -> bool:
    """Whether a text is word for word a title or note of one of the sections."""
    words = normalised(text)
    return any(
        words == normalised(own)
        for section in sections
        for own in (section.title, section.citation, *(note.text for note in section.notes))
    )


def _joined(pairs: Iterable[tuple[str, Sequence[Section]]]) -> Iterator[Candidate]:
    """Candidates of equal text as one, with the sections of all."""
    texts: dict[str, dict[str, Section]] = {}
    for text, sections in pairs:
        texts.setdefault(text, {}).update({section.key: section for section in sections})
    for text, held in texts.items():
        yield Candidate(text, tuple(held.values()))


def _unique(pairs: Iterable[tuple[str, Section]], dropped: Dropped) -> Iterator[Candidate]:
    """Candidates whose words name one section only."""
    by_words: dict[str, list[tuple[str, Section]]] = {}
    for text, section in pairs:
        by_words.setdefault(normalised(text), []).append((text, section))
    for words, same in by_words.items():
        if not words:
            dropped["no words"] += len(same)
        elif len({section.key for _, section in same}) > 1:
            dropped["ambiguous"] += len(same)
        else:
            text, section = same[0]
            yield Candidate(text, (section,))


def index_to_tabular(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """The path of each index entry that gives codes, to the Tabular sections of these codes."""
    tabular = library.manual("tabular", year)

    def pairs() -> Iterator[tuple[str, Sequence[Section]]]:
        for entry in library.manual("index", year).sections:
            codes = [ref.target for ref in entry.refs if ref.kind in ("code", "manifestation")]
            sections = [found for code in codes if (found := _code(tabular, code))]
            if sections:
                yield _VERSION.sub("", entry.key), sections
            elif codes:
                dropped["no gold"] += 1

    return _joined(pairs())


def _code(tabular: Manual, code: str) -> Section | None:
    try:
        return look_up_code(tabular, code).section
    except UnknownKey:
        return None


def inclusion_terms(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """Each inclusion term of the Tabular List, to the code under which it stands."""
    return _unique(
        (
            (note.text, section)
            for section in library.manual("tabular", year).sections
            for note in section.notes
            if note.kind == "inclusionTerm"
        ),
        dropped,
    )


def _in_force(title18: Manual) -> list[Section]:
    """Sections of Title 18 that are not repealed, transferred or reserved."""
    return [section for section in title18.sections if section.kind == "section" and section.title]


def title18_headings(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """Each section heading of Title 18, to its section in this year's edition."""
    sections = _in_force(library.manual("title18", year))
    return _unique(((section.title, section) for section in sections), dropped)


def title18_printed(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """The same with the section sign and number, as printed: ``§ 924. Penalties``."""
    for section in _in_force(library.manual("title18", year)):
        number = _VERSION.sub("", section.key).removeprefix("18 U.S.C. ")
        yield Candidate(f"{number}. {section.title}", (section,))


def appendix_a(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """The heading of each statute of Title 18 in Appendix A, to the guidelines of its rows."""
    ussg = library.manual("ussg", year)
    title18 = library.manual("title18", year)
    unique = {
        each.sections[0].key: each.text
        for each in _unique(((section.title, section) for section in _in_force(title18)), Counter())
    }
    appendix = StatuteIndex(ussg)
    for key in appendix.sections():
        targets = [
            ref.target
            for row in appendix.rows(key).rows
            for ref in row.refs
            if ref.kind == "guideline"
        ]
        sections = [
            ussg.by_key[target] for target in dict.fromkeys(targets) if target in ussg.by_key
        ]
        if not key.startswith("18 U.S.C. "):
            dropped["other title"] += 1
        elif key not in unique:
            dropped["no heading of its own"] += 1
        elif not sections:
            dropped["no gold"] += 1
        else:
            yield Candidate(unique[key], tuple(sections))


def guideline_headings(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """Each guideline's heading, to the guideline."""
    sections = library.manual("ussg", year).sections
    return _unique(((s.title, s) for s in sections if s.kind == "guideline" and s.title), dropped)


def coding_guideline_headings(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
    """Each heading of the coding guidelines below the chapters, to its section."""
    sections = library.manual("guidelines", year).sections
    return _unique(((s.title, s) for s in sections if s.kind == "guideline" and s.title), dropped)


SETS: Mapping[str, KnownItems] = MappingProxyType(
    {
        each.name: each
        for each in (
            KnownItems(
                "index-to-tabular",
                "Path of an Alphabetic Index entry to the Tabular section of its code.",
                ("tabular", "index"),
                index_to_tabular,
                "code",
                DIRECT,
                "index_path",
                made_from=("index_entry_to_code",),
            ),
            KnownItems(
                "appendix-a-to-guideline",
                "Title 18 heading of a statute in Appendix A to the guidelines of its rows.",
                ("ussg", "title18"),
                appendix_a,
                "mapped",
                NEAR,
                "title18_heading",
                made_from=("appendix_a",),
            ),
            KnownItems(
                "title18-heading",
                "Heading of a section of Title 18 to that section in the right year.",
                ("title18",),
                title18_headings,
                "given",
                DIRECT,
                "title18_heading",
                repeats_gold_text=True,
            ),
            KnownItems(
                "title18-printed-heading",
                "Heading with its number, as printed, to that section in the right year.",
                ("title18",),
                title18_printed,
                "given",
                DIRECT,
                "title18_heading",
                repeats_gold_text=True,
            ),
            KnownItems(
                "guideline-heading",
                "Heading of a sentencing guideline to the guideline.",
                ("ussg",),
                guideline_headings,
                "given",
                DIRECT,
                "guideline_heading",
                repeats_gold_text=True,
            ),
            KnownItems(
                "coding-guideline-heading",
                "Heading in the ICD-10-CM guidelines to its section.",
                ("guidelines",),
                coding_guideline_headings,
                "given",
                DIRECT,
                "coding_guideline_heading",
                repeats_gold_text=True,
            ),
            KnownItems(
                "inclusion-term-to-code",
                "Inclusion term of the Tabular List to its code.",
                ("tabular",),
                inclusion_terms,
                "code",
                DIRECT,
                "inclusion_term",
                repeats_gold_text=True,
            ),
        )
    }
)


def make_queries(
    name: str, library: Library, years: Sequence[int], n: int | None = None, seed: int = 7
) -> QuerySet:
    """A known-item set over the editions of these years.

    ``n`` queries in the order of the sample, all without it; when there are fewer, all, and a note
    says so. Raises ``BadOption`` for an unknown set, and ``UnknownYear`` for an edition that is
    not here.
    """
    kind = SETS.get(name)
    if kind is None:
        raise BadOption(f"query set {name!r} is not known; choose from {', '.join(SETS)}")
    if n is not None and n < 1:
        raise BadOption(f"{n} queries cannot be made; give a number from 1")
    if not years:
        raise BadOption("no year; give one such as 2025, or several")
    dropped: Dropped = Counter()
    keyed: list[tuple[str, int, Candidate]] = []
    for year in sorted(set(years)):
        for source in kind.needs:
            library.edition(source, year)
        for candidate in kind.rule(library, year, dropped):
            if not kind.repeats_gold_text and is_copy(candidate.text, candidate.sections):
                dropped["copy"] += 1
                continue
            keyed.append((_order(seed, name, year, candidate), year, candidate))
    keyed.sort(key=lambda each: each[0])
    chosen = keyed[:n]
    notes = []
    if n is not None and len(keyed) < n:
        notes.append(f"{name}: {len(keyed)} queries are all there are; {n} were asked for")
    queries: list[Query] = []
    golds: list[Gold] = []
    source = kind.needs[0]
    for number, (_, year, candidate) in enumerate(chosen, 1):
        query_id = f"{name}-{year}-{number:05}"
        queries.append(Query(query_id, candidate.text, year, source))
        golds.extend(
            Gold(query_id, source, year, section.key, kind.grade, kind.origin)
            for section in candidate.sections
        )
    info = SetInfo(
        name,
        tuple(sorted(set(years))),
        seed,
        len(keyed),
        kind.repeats_gold_text,
        kind.made_from,
        kind.text_from,
        dict(sorted(dropped.items())),
        private=False,
    )
    return QuerySet(info, tuple(queries), tuple(golds), tuple(notes))


def _order(seed: int, name: str, year: int, candidate: Candidate) -> str:
    parts = (str(seed), name, str(year), candidate.text, *(s.key for s in candidate.sections))
    return sha256_text("\n".join(parts))
