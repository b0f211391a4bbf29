"""Codes of a case from retrieved sections alone, by a stated rule.

From each hit that is a Tabular, Index or External Cause chunk, in rank order, one code: the one
whose line (its own words and those of the entries above it) shares most distinct terms with the
case, weighted by how rare a term is in the chunk; of equals the first. Codes that are not complete,
and codes that an earlier hit gave, are passed over.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from eval.domains.model import RuleAnswer
from eval.queries.case_files import Case
from eval.systems.tools.tool import CaseEditions
from indexers.legs.tokenise import Tokeniser
from manuals.icd10cm.code_view import is_leaf, look_up_code
from manuals.model.sections import Manual
from retrievers.search.hits import Hit
from tam.errors import BadReference, UnknownKey


def answer_from_hits(case: Case, editions: CaseEditions, hits: Sequence[Hit]) -> RuleAnswer:
    """The codes in the order of their hits."""
    codes = list(dict.fromkeys(_codes(case, editions, hits)))
    return RuleAnswer(codes) if codes else RuleAnswer(None, (), "no hit holds a complete code")


def _codes(case: Case, editions: CaseEditions, hits: Iterable[Hit]) -> Iterator[str]:
    tokeniser = Tokeniser()
    terms = set(tokeniser.terms(case.text))
    for hit in hits:
        if hit.source in ("tabular", "index", "eindex"):
            manual = editions.manual(hit.source)
            code = _best_code(editions, manual, hit.section_keys, terms, tokeniser)
            if code is not None:
                yield code


def _best_code(
    editions: CaseEditions,
    manual: Manual,
    keys: Iterable[str],
    case: set[str],
    tokeniser: Tokeniser,
) -> str | None:
    candidates: list[tuple[str, set[str]]] = []
    for key in keys:
        section = manual.by_key.get(key)
        if section is None:
            continue
        if manual.source == "tabular":
            codes = [section.key] if is_leaf(manual, section) else []
            words = " ".join([section.title, *(note.text for note in section.notes)])
        else:
            codes = [ref.target for ref in section.refs if ref.kind == "code"]
            words = section.key
        candidates += [(code, set(tokeniser.terms(words))) for code in codes]
    frequency = Counter(term for _, terms in candidates for term in terms)
    scored = [
        (
            sum(math.log1p(len(candidates) / frequency[t]) for t in sorted(terms & case)),
            -place,
            code,
        )
        for place, (code, terms) in enumerate(candidates)
    ]
    for score, _, code in sorted(scored, reverse=True):
        if score > 0 and _complete(editions, code):
            return code
    return None


def _complete(editions: CaseEditions, code: str) -> bool:
    """Whether the Tabular List has the code as one that can be reported."""
    try:
        return look_up_code(editions.manual("tabular"), code).valid
    except (UnknownKey, BadReference):
        return False
