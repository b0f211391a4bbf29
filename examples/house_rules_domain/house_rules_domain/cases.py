"""The rules of the domain: what an answer is, its gold, and an answer without a model."""

import re
from collections.abc import Mapping, Sequence

from eval.domains.model import CaseGolds, RuleAnswer
from eval.golds.gold import DIRECT, Gold
from eval.queries.case_files import Case
from eval.systems.tools.tool import CaseEditions
from indexers.legs.tokenise import Tokeniser
from manuals.library.editions import Library
from retrievers.search.hits import Hit

RULE = re.compile(r"Rule [A-F]\.\d{1,2}")


def read_answer(cell: str) -> str | None:
    """``Rule D.1``, or nothing."""
    cell = cell.strip()
    if cell and not RULE.fullmatch(cell):
        raise ValueError("is no rule; give one such as Rule D.1")
    return cell or None


def golds(
    library: Library,
    cases: Sequence[Case],
    editions: Mapping[str, Mapping[str, int]],
    tables: bool,
) -> CaseGolds:
    """The rule that answers a question."""
    return CaseGolds(
        [
            Gold(
                case.case_id,
                "house",
                editions[case.case_id]["house"],
                str(case.answer),
                DIRECT,
                "code",
            )
            for case in cases
            if case.answer and "house" in editions[case.case_id]
        ]
    )


def likeliest_rule(case: Case, editions: CaseEditions, hits: Sequence[Hit]) -> RuleAnswer:
    """Of the rules in the best hit the one that shares most terms with the question."""
    manual, tokeniser = editions.manual("house"), Tokeniser()
    asked = set(tokeniser.terms(case.text))
    best = [key for hit in hits[:1] for key in hit.section_keys if RULE.fullmatch(key)]
    if not best:
        return RuleAnswer(None, (), "the best hit is no rule")

    def shared(key: str) -> int:
        return len(asked & set(tokeniser.terms(manual.own_text(manual.get(key)))))

    found = max(best, key=shared)
    return RuleAnswer(found, (found,))


def predicted_keys(prediction: str | None) -> set[str]:
    """A prediction is a section's key."""
    return {prediction} if prediction else set()
