"""Control without a model: an answer from the retrieved sections by a stated rule.

It is a floor, not a system: what a table's numbers must beat to show that a model adds something.

- **ICD**: from each of the top k hits that is a Tabular, Index or External Cause chunk, in rank order, one code: the one
  whose line (its own words and those of the entries above it) shares most distinct terms with the
  case, weighted by how rare a term is in the chunk; of equals the first. Codes that are not
  complete, and codes that an earlier hit gave, are passed over.
- **legal**: of the best-ranked hit that stands in a Chapter Two guideline, the base offense level:
  in subsection (a) of the guideline, the last alternative's number, which is the one that applies
  when none of the special conditions is met.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from eval.systems.solvers.outcome import Outcome, Work
from eval.systems.tools.search import shown_by
from eval.systems.tools.tool import ToolResult
from indexers.legs.tokenise import Tokeniser
from manuals.icd10cm.code_view import is_leaf, look_up_code
from manuals.model.sections import Manual
from tam.errors import BadReference, UnknownKey

_CHAPTER_TWO = re.compile(r"§2[A-Z]\d+\.\d+")
_BASE = re.compile(r"\bBase Offense Level\b(?P<rest>.*)", re.DOTALL | re.IGNORECASE)

#: an alternative that stands for itself: ``(1) 43, if`` or ``: 24``
_ALTERNATIVE = re.compile(r"(?:\(\d+\)|:)\s*(\d{1,2})\b")


def solve(work: Work) -> Outcome:
    """Answer by the rule of the domain."""
    if work.books.search is None:
        raise ValueError("retrieval-only needs an index")
    hits = list(work.books.search(work.case.text, work.limits.hits, None))
    work.record("retrieve", {}, ToolResult("", shown_by(hits)))
    with work.books.lock:
        return _answer(work, hits)


def _answer(work: Work, hits: list[Any]) -> Outcome:
    needed = "tabular" if work.domain == "icd" else "ussg"
    if needed not in work.books.years:
        return Outcome("unparsed", None, detail=f"no edition of {needed} for the case's year")
    if work.domain == "icd":
        codes = list(dict.fromkeys(_codes(work, hits)))
        if not codes:
            return Outcome("unparsed", None, detail="no hit holds a complete code")
        return Outcome("ok", codes)
    found = _level(work, hits)
    if found is None:
        return Outcome("unparsed", None, detail="no hit stands in a Chapter Two guideline")
    level, guideline = found
    return Outcome("ok", level, cited=(guideline,))


def _codes(work: Work, hits: Iterable[Any]) -> Iterator[str]:
    tokeniser = Tokeniser()
    case = set(tokeniser.terms(work.case.text))
    for hit in hits:
        if hit.source in ("tabular", "index", "eindex"):
            manual = work.books.manual(hit.source)
            code = _best_code(work, manual, hit.section_keys, case, tokeniser)
            if code is not None:
                yield code


def _best_code(
    work: Work, manual: Manual, keys: Iterable[str], case: set[str], tokeniser: Tokeniser
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
        if score > 0 and _complete(work, code):
            return code
    return None


def _complete(work: Work, code: str) -> bool:
    """Whether the Tabular List has the code as one that can be reported."""
    try:
        return look_up_code(work.books.manual("tabular"), code).valid
    except (UnknownKey, BadReference):
        return False


def _level(work: Work, hits: Iterable[Any]) -> tuple[int, str] | None:
    """The level and the key of the guideline that gave it."""
    manual = work.books.manual("ussg")
    for hit in hits:
        if hit.source != "ussg":
            continue
        for key in hit.section_keys:
            found = _CHAPTER_TWO.match(key)
            section = manual.by_key.get(found.group()) if found else None
            if section is not None:
                level = base_offense_level(manual.subtree_text(section))
                if level is not None:
                    return level, section.key
    return None


def base_offense_level(guideline: str) -> int | None:
    """The last alternative of a guideline's base offense level; ``None`` when it has no number.

    The stretch from ``Base Offense Level`` to subsection (b) or the commentary is read.
    """
    found = _BASE.search(guideline)
    if found is None:
        return None
    stretch = re.split(r"\n\s*\(b\)|\nCommentary\b|\nSpecific Offense", found["rest"], maxsplit=1)[
        0
    ]
    levels = [int(level) for level in _ALTERNATIVE.findall(stretch)]
    levels = [level for level in levels if 1 <= level <= 43]
    return levels[-1] if levels else None
