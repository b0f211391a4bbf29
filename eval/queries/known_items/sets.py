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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from eval.golds.gold import DIRECT, Gold, Origin
from eval.queries.query_sets import Query, QuerySet, SetInfo
from manuals.library.editions import Library
from manuals.model.sections import Section
from manuals.model.source import SOURCES
from tam.errors import BadOption
from tam.files import sha256_text

VERSION = re.compile(r"#\d+$")
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


def joined(pairs: Iterable[tuple[str, Sequence[Section]]]) -> Iterator[Candidate]:
    """Candidates of equal text as one, with the sections of all."""
    texts: dict[str, dict[str, Section]] = {}
    for text, sections in pairs:
        texts.setdefault(text, {}).update({section.key: section for section in sections})
    for text, held in texts.items():
        yield Candidate(text, tuple(held.values()))


def unique(pairs: Iterable[tuple[str, Section]], dropped: Dropped) -> Iterator[Candidate]:
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


def heading_set(
    name: str,
    sentence: str,
    source: str,
    text_from: str,
    wanted: Callable[[Section], bool],
) -> KnownItems:
    """The set of a source's headings, each to its section, of those that are wanted."""

    def rule(library: Library, year: int, dropped: Dropped) -> Iterator[Candidate]:
        sections = library.manual(source, year).sections
        return unique(((s.title, s) for s in sections if s.title and wanted(s)), dropped)

    return KnownItems(
        name, sentence, (source,), rule, "given", DIRECT, text_from, repeats_gold_text=True
    )


def known_item_sets() -> dict[str, KnownItems]:
    """The sets of all sources by name, in the order of the sources."""
    hooks = (source.known_items for source in SOURCES.values())
    return {each.name: each for hook in hooks if hook is not None for each in hook()}


def known_item_set(name: str) -> KnownItems:
    """The set of a name. Raises ``BadOption``."""
    sets = known_item_sets()
    if name not in sets:
        raise BadOption(f"query set {name!r} is not known; choose from {', '.join(sets)}")
    return sets[name]


def make_queries(
    name: str, library: Library, years: Sequence[int], n: int | None = None, seed: int = 7
) -> QuerySet:
    """A known-item set over the editions of these years.

    ``n`` queries in the order of the sample, all without it; when there are fewer, all, and a note
    says so. Raises ``BadOption`` for an unknown set, and ``UnknownYear`` for an edition that is
    not here.
    """
    kind = known_item_set(name)
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
