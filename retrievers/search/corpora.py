"""Several indexes searched as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from indexers.folder.manifest import NAME
from manuals.model.source import check_corpus, corpora
from retrievers.search.hits import Hit
from retrievers.search.index import Clock, Index, Ranking, open_index
from retrievers.search.settings import Filter, SearchSettings
from tam.errors import BadIndex, BadOption, BadReference, TamError, UnknownKey, UnknownYear

#: where ``tam build`` puts its indexes: one folder for each corpus
DEFAULT_ROOT = Path("indexes")


@dataclass(frozen=True, slots=True)
class CorpusHit:
    """A hit and the index that it is from."""

    index: Index
    hit: Hit


def open_built(root: Path = DEFAULT_ROOT, corpus: str | None = None) -> list[Index]:
    """The indexes that are built below ``root``, all or that of one corpus, in order of name.

    Raises ``BadIndex`` when there is none, and as ``open_index``.
    """
    names = [check_corpus(corpus)] if corpus else corpora()
    found = [open_index(root / name) for name in names if (root / name / NAME).is_file()]
    if not found:
        what = f"{corpus} index" if corpus else "index"
        raise BadIndex(
            f"{root}: no {what} is built here; run  make indexes  "
            f"(or  tam build --manuals DIR), or name another place with --index"
        )
    return found


def open_indexes(folder: Path = DEFAULT_ROOT, corpus: str | None = None) -> list[Index]:
    """The index that a folder is, or those that are built below it."""
    if not (folder / NAME).is_file():
        return open_built(folder, corpus)
    index = open_index(folder)
    if corpus is not None and index.corpus != corpus:
        raise BadOption(
            f"{folder}: an index of {index.corpus}, not of {corpus}; change one of both"
        )
    return [index]


def search_all(
    indexes: Sequence[Index],
    query: str,
    k: int,
    wanted: Filter,
    settings: SearchSettings,
    clock: Clock | None = None,
) -> list[CorpusHit]:
    """One list of ``k`` hits from several indexes.

    Scores of two indexes do not compare, so their lists take turns: the first of each, in the
    order of the indexes, then the second of each; places found by reference come before that, in
    the same way. Ranks are numbered anew. An index that the filter does not fit (its sources,
    years or keys are others) is left out; when none fits, an error says why.
    """
    errors: list[tuple[str, TamError]] = []
    fitting: list[tuple[Index, Ranking]] = []
    for index in indexes:
        try:
            ranking = index.rank_rows([query], k, filters=wanted, settings=settings, clock=clock)[0]
            fitting.append((index, ranking))
        except (BadOption, BadReference, UnknownKey, UnknownYear) as error:
            errors.append((index.corpus, error))
    if not fitting:
        raise _one_error(errors)
    places = sorted(
        (row not in ranking.referenced, place, number)
        for number, (_, ranking) in enumerate(fitting)
        for place, row in enumerate(ranking.rows.tolist())
    )
    hits = [index.hits(ranking) for index, ranking in fitting]
    return [
        CorpusHit(fitting[number][0], replace(hits[number][place], rank=rank))
        for rank, (_, place, number) in enumerate(places[:k], start=1)
    ]


def search_record(query: str, k: int, wanted: Filter, found: Sequence[CorpusHit]) -> dict[str, Any]:
    """The answer to a search as JSON values."""
    return {
        "query": query,
        "k": k,
        "filter": wanted.describe(),
        "hits": [{"corpus": each.index.corpus, **each.hit.to_json()} for each in found],
    }


def _one_error(errors: Sequence[tuple[str, TamError]]) -> TamError:
    """What to say when no index fits: "no such year" says more than "no such source", which is
    what the other corpus answers."""
    telling = [each for each in errors if not isinstance(each[1], BadOption)] or errors[:1]
    kind = type(telling[0][1])
    alike = [(corpus, error) for corpus, error in telling if type(error) is kind]
    if len(alike) == 1:
        return alike[0][1]
    return kind("; ".join(f"{corpus}: {error}" for corpus, error in alike))
