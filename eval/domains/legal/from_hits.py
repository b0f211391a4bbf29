"""The offense level of a case from retrieved sections alone, by a stated rule.

Of the best-ranked hit that stands in a Chapter Two guideline, the base offense level: in subsection
(a) of the guideline, the last alternative's number, which is the one that applies when none of the
special conditions is met.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from eval.domains.model import RuleAnswer
from eval.queries.case_files import Case
from eval.systems.tools.tool import CaseEditions
from retrievers.search.hits import Hit

_CHAPTER_TWO = re.compile(r"§2[A-Z]\d+\.\d+")
_BASE = re.compile(r"\bBase Offense Level\b(?P<rest>.*)", re.DOTALL | re.IGNORECASE)

#: an alternative that stands for itself: ``(1) 43, if`` or ``: 24``
_ALTERNATIVE = re.compile(r"(?:\(\d+\)|:)\s*(\d{1,2})\b")


def answer_from_hits(case: Case, editions: CaseEditions, hits: Sequence[Hit]) -> RuleAnswer:
    """The level, and the guideline that gave it."""
    found = _level(editions, hits)
    if found is None:
        return RuleAnswer(None, (), "no hit stands in a Chapter Two guideline")
    level, guideline = found
    return RuleAnswer(level, (guideline,))


def _level(editions: CaseEditions, hits: Iterable[Hit]) -> tuple[int, str] | None:
    """The level and the key of the guideline that gave it."""
    manual = editions.manual("ussg")
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
