"""The domain ``legal``: total offense levels under the Sentencing Guidelines."""

from __future__ import annotations

from pathlib import Path

from eval.domains.legal.cases import COLUMNS, read_answer
from eval.domains.model import Domain, Stage
from eval.golds.gold import NEAR
from tam.plugins import Hook

HARNESS = (
    Stage(
        "statute",
        "fix the statutes of conviction, count by count.",
        ("list_title18_chapters", "open_title18_chapter", "open_statute_section"),
    ),
    Stage(
        "mapping",
        "map each statute to its Chapter Two guideline through Appendix A.",
        ("search_appendix_a", "list_ussg_contents", "open_guideline"),
    ),
    Stage(
        "chapter-two",
        "work out the offense level of each count under its Chapter Two guideline.",
        ("open_guideline", "open_ussg_subheading", "open_statute_section"),
    ),
    Stage(
        "chapter-three",
        "apply Chapter Three (and Chapter Four where it changes the level): adjustments, "
        "grouping, acceptance.",
        ("list_ussg_contents", "open_ussg_subheading", "open_guideline"),
    ),
    Stage(
        "audit",
        "audit the calculation.",
        ("open_guideline", "open_ussg_subheading", "search_appendix_a"),
    ),
)

LEGAL = Domain(
    name="legal",
    order=20,
    title="federal sentencing",
    corpus="legal",
    # Facts of published court records.
    private=False,
    columns=COLUMNS,
    read_answer=read_answer,
    golds=Hook("eval.domains.legal.golds:golds_of_cases"),
    # An answer rests on the cited statutes and on the guidelines that Appendix A maps them to.
    answer_grade=NEAR,
    tools=Hook("eval.domains.legal.tools:TOOLS").load,
    harness=HARNESS,
    prompts=Path(__file__).parent / "prompts",
    answer=Hook("eval.domains.legal.answer:LegalAnswer").load,
    core_source="ussg",
    answer_from_hits=Hook("eval.domains.legal.from_hits:answer_from_hits"),
    scorer=Hook("eval.domains.legal.scores:SCORER").load,
    published=Hook("eval.domains.legal.scores:PUBLISHED").load,
    example="felon with a gun whose serial number was ground off",
)
