"""The domain ``icd``: diagnosis codes for hospital discharge notes."""

from __future__ import annotations

from pathlib import Path

from eval.domains.icd.cases import COLUMNS, read_answer
from eval.domains.model import Domain, Stage
from tam.plugins import Hook

HARNESS = (
    Stage(
        "index-lookup",
        "list the active conditions of the case and find candidate codes for each in the "
        "Alphabetic Index and its tables.",
        ("list_index_terms", "open_index_entry"),
    ),
    Stage(
        "tabular-check",
        "verify every candidate code in the Tabular List, complete its characters, and "
        "follow its notes.",
        (
            "list_tabular_chapters",
            "open_tabular_chapter",
            "open_tabular_block",
            "open_tabular_code",
        ),
        asks_for="guideline-review",
        asks_when="sequence, combination, exclusion or extra codes are in question",
    ),
    Stage(
        "guideline-review",
        "apply the Official Guidelines to the open questions: sequence, combination, "
        "exclusion, extra codes.",
        ("list_guideline_contents", "open_guideline_section", "open_tabular_code"),
    ),
    Stage(
        "coding-audit",
        "audit the code set and order it.",
        ("open_tabular_code", "open_index_entry", "open_guideline_section"),
    ),
)

ICD = Domain(
    name="icd",
    order=10,
    title="ICD-10-CM coding",
    corpus="icd",
    private=True,
    private_because="discharge notes may be protected health information, and MIMIC's terms forbid "
    "sending them to a service",
    columns=COLUMNS,
    read_answer=read_answer,
    golds=Hook("eval.domains.icd.golds:golds_of_cases"),
    wider_golds="index entries and guidelines that name the codes",
    tools=Hook("eval.domains.icd.tools:TOOLS").load,
    harness=HARNESS,
    prompts=Path(__file__).parent / "prompts",
    answer=Hook("eval.domains.icd.answer:IcdAnswer").load,
    show=Hook("eval.domains.icd.tools:show_section"),
    core_source="tabular",
    answer_from_hits=Hook("eval.domains.icd.from_hits:answer_from_hits"),
    scorer=Hook("eval.domains.icd.scores:SCORER").load,
    predicted_keys=Hook("eval.domains.icd.scores:predicted_keys"),
    published=Hook("eval.domains.icd.scores:PUBLISHED").load,
    example="type 2 diabetes with chronic kidney disease",
    # The last day of the fiscal year: its codes hold until then.
    last_day=(9, 30),
)
