"""House questions: a domain of one's own. A question from the house, and the rule that decides it.

question_id,question,rule,year
1,"How long may my brother sleep here?",Rule D.1,2024
"""

from pathlib import Path

from eval.domains.model import Domain
from eval.queries.case_files import Columns
from tam.plugins import Hook

DOMAIN = Domain(
    name="house",
    order=1000,
    title="house questions",
    corpus="house",
    columns=Columns("question_id", "question", "rule", year="year"),
    read_answer=Hook("house_rules_domain.cases:read_answer"),
    golds=Hook("house_rules_domain.cases:golds"),
    prompts=Path(__file__).parent / "prompts",
    answer=Hook("house_rules_domain.answer:Answer").load,
    core_source="house",
    answer_from_hits=Hook("house_rules_domain.cases:likeliest_rule"),
    predicted_keys=Hook("house_rules_domain.cases:predicted_keys"),
    example="how long may a guest stay",
)
