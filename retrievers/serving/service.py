"""Search and lookup as JSON values, for servers: bounded input, bounded output, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from manuals.model.source import SOURCES
from retrievers.search.corpora import search_all, search_record
from retrievers.search.index import DEFAULT_K, Index
from retrievers.search.settings import Filter, SearchSettings
from tam.errors import BadOption, UnknownKey, UnknownYear
from tam.options import declared, from_texts

MOST_HITS = 100
#: characters of a query; a whole case fits
LONGEST_QUERY = 50_000
#: characters of a section's text, and children listed, in an answer
LONGEST_TEXT = 50_000
MOST_CHILDREN = 500
#: how far down a request may have legs read
DEEPEST = 10_000

FILTERS = tuple(declared(Filter))
SETTINGS = tuple(declared(SearchSettings))


class Service:
    """What a server answers from: some opened indexes. Safe to call from several threads.

    ``reranker`` is the cross-encoder that requests may ask for by name: they name no others, which
    would have the server load whatever they like.
    """

    def __init__(self, indexes: Sequence[Index], reranker: str | None = None) -> None:
        self.indexes = tuple(indexes)
        self.reranker = reranker
        # Indexes load their parts on first use, which two threads must not do at once.
        self._lock = threading.Lock()

    def health(self) -> dict[str, Any]:
        """What is served."""
        return {
            "status": "ok",
            "indexes": [
                {
                    "corpus": index.corpus,
                    "chunks": len(index),
                    "sample": index.manifest.sample,
                    "editions": [edition.name for edition in index.manifest.editions],
                }
                for index in self.indexes
            ],
        }

    def search(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Hits for ``q``; optional: ``k``, ``corpus``, the fields of ``Filter`` and
        ``SearchSettings``.

        Raises ``BadOption`` for an argument that is unknown, missing or out of bounds, and as
        ``Index.search``.
        """
        _check_names(arguments, ("q", "k", "corpus", *FILTERS, *SETTINGS))
        query = arguments.get("q", "")
        if len(query) > LONGEST_QUERY:
            raise BadOption(f"q: {len(query):,} characters; at most {LONGEST_QUERY:,} are allowed")
        k = _number("k", arguments.get("k", str(DEFAULT_K)), MOST_HITS)
        given = {name: text for name, text in arguments.items() if text}
        wanted = Filter(**from_texts(Filter, _of(given, FILTERS)))
        settings = SearchSettings(**from_texts(SearchSettings, _of(given, SETTINGS)))
        if settings.reranker not in (None, self.reranker):
            served = self.reranker or "none; start the server with --reranker"
            raise BadOption(f"reranker {settings.reranker[:100]!r} is not served; served: {served}")
        if max(settings.depth, settings.rerank_depth) > DEEPEST:
            raise BadOption(f"depth: at most {DEEPEST:,} is allowed")
        with self._lock:
            found = search_all(self._of(arguments.get("corpus")), query, k, wanted, settings)
        return search_record(query, k, wanted, found)

    def open(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        """The section that ``ref`` names; optional: ``year`` or ``as_of``, ``source``.

        A long text is cut to ``LONGEST_TEXT`` characters, with ``cut`` true.
        """
        from manuals.library.view import section_record
        from manuals.model.keys import parse_reference

        _check_names(arguments, ("ref", "year", "as_of", "source"))
        reference = parse_reference(_short("ref", arguments.get("ref", "")))
        year = arguments.get("year")
        number = None if year is None else _number("year", year, 9999)
        day = arguments.get("as_of")
        source = arguments.get("source")
        if source is not None and source not in SOURCES:
            raise BadOption(f"source {source!r} is not known; choose one of {', '.join(SOURCES)}")
        errors: list[UnknownKey | UnknownYear] = []
        # Those that hold such manuals first: their error says which editions there are.
        sources = {source} if source else set(reference.sources)
        likely = sorted(self.indexes, key=lambda index: sources.isdisjoint(_sources(index)))
        with self._lock:
            for index in likely:
                try:
                    found = index.library.look_up(reference, number, source, day)
                except (UnknownKey, UnknownYear) as error:
                    errors.append(error)
                else:
                    return _bounded(section_record(found))
        # An index of the other corpus has no such manual; one that lacks the key says more.
        raise next((each for each in errors if isinstance(each, UnknownKey)), errors[0])

    def _of(self, corpus: str | None) -> Sequence[Index]:
        if corpus is None:
            return self.indexes
        chosen = [index for index in self.indexes if index.corpus == corpus]
        if not chosen:
            here = ", ".join(index.corpus for index in self.indexes)
            raise BadOption(f"corpus {corpus!r} is not served; served: {here}")
        return chosen


def _sources(index: Index) -> set[str]:
    return {edition.source for edition in index.manifest.editions}


def _bounded(record: dict[str, Any]) -> dict[str, Any]:
    cut = len(record["text"]) > LONGEST_TEXT or len(record["children"]) > MOST_CHILDREN
    return {
        **record,
        "text": record["text"][:LONGEST_TEXT],
        "own_text": record["own_text"][:LONGEST_TEXT],
        "children": record["children"][:MOST_CHILDREN],
        "cut": cut,
    }


def _check_names(arguments: Mapping[str, str], allowed: Sequence[str]) -> None:
    for name in arguments:
        if name not in allowed:
            raise BadOption(f"argument {name!r} is not known; there are {', '.join(allowed)}")


def _short(name: str, text: str) -> str:
    if not text.strip() or len(text) > 500:
        raise BadOption(f"{name}: give a reference of 1 to 500 characters, such as 18 USC 924")
    return text


def _number(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= most and len(text) < 10):
        raise BadOption(
            f"{name} {text[:20]!r} is not allowed; give a whole number from 1 to {most}"
        )
    return int(text)


def _of(given: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: text for name, text in given.items() if name in names}
