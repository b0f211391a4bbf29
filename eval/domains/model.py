"""What a domain is: all that the rest of the project asks about a kind of cases.

A domain is one object of this class, registered under the entry-point group ``tam.domains``.
Whatever is not given has a default that works, or is missing and then named in the error of what
needs it. ``docs/guides/domain.md`` shows one of a screen's length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from eval.golds.gold import DIRECT, Gold
from eval.queries.case_files import Case, CaseAnswer, Columns
from eval.systems.scoring.scores import EXACT_ONLY, Group, Scorer
from eval.systems.tools.tool import CaseEditions, Tool
from manuals.library.editions import Library
from manuals.model.sections import Manual, Section
from manuals.model.source import in_corpus
from tam.errors import BadOption
from tam.plugins import Registry

if TYPE_CHECKING:
    from pydantic import BaseModel

    from retrievers.search.hits import Hit


class CaseGolds(NamedTuple):
    """Golds that a domain's rules find for its cases, and lines for the user about them."""

    golds: list[Gold]
    notes: tuple[str, ...] = ()


class RuleAnswer(NamedTuple):
    """An answer without a model. ``detail`` says why there is no prediction."""

    prediction: list[str] | int | str | None
    cited: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """One worker of the harness: its part, its skill (of the same name) and its tools.

    ``asks_for`` is the stage that its report can ask for, ``asks_when`` in words when; that one
    runs only when it does.
    """

    name: str
    task: str
    tools: tuple[str, ...]
    asks_for: str = ""
    asks_when: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A published table beside a run's own numbers: ``rows`` of cells with a head first, and what
    a reader must know of it. ``own`` makes the run's rows of its scores over all cases."""

    head: tuple[str, ...]
    own: Callable[[Group], list[list[str]]]
    rows: tuple[tuple[str, ...], ...]
    caveats: tuple[str, ...] = ()


def has_case_columns(head: Sequence[str], columns: Columns) -> bool:
    """Whether a file's head names the columns of case id and answer."""
    return columns.case_id in head and columns.answer in head


def no_golds(
    library: Library,
    cases: Sequence[Case],
    editions: Mapping[str, Mapping[str, int]],
    tables: bool,
) -> CaseGolds:
    """No rule finds golds: only given ones count."""
    return CaseGolds([])


def no_keys(prediction: Any) -> set[str]:
    """A prediction that names no section."""
    return set()


def text_below(manual: Manual, section: Section) -> str:
    """A section's text with all below it."""
    return manual.subtree_text(section)


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """One kind of cases.

    ``corpus`` is the corpus of manuals that its cases are searched in. ``private``: a case's text
    is sent to no remote endpoint unless the user allows it, goes into no trace, and the files of
    its runs are the owner's alone; ``private_because`` says why to who tries.

    **Cases.** ``columns`` of a case file, ``recognises`` (head, columns) whether a file is of this
    domain, ``read_answer`` an answer's cell (``ValueError``: what is wrong, what to give).
    **Golds.** ``golds`` (library, cases, case id -> source -> year, whether tables count too);
    ``answer_grade`` is the lowest grade of a gold that an answer rests on, ``wider_golds`` names
    what the lower grades are.
    **Models.** ``tools`` beside the searches, ``harness`` stages, ``prompts`` (a folder; see
    ``eval.systems.solvers.prompting``), ``answer`` the pydantic class of an answer, with
    ``prediction()`` and ``sections``; ``show`` a gold section in the oracle's prompt.
    **Without one.** ``core_source`` must be there for ``answer_from_hits`` (case, editions, hits).
    **Scores.** ``scorer``; ``predicted_keys`` are sections that a prediction names itself;
    ``published`` numbers.
    **The rest.** ``example`` is a query to try on a new index; ``last_day`` the month and day on
    which a year's editions are looked at in a study's ``as_of``.
    """

    name: str
    order: int
    title: str
    corpus: str
    columns: Columns
    read_answer: Callable[[str], CaseAnswer]
    private: bool = True
    private_because: str = "its cases may be confidential"
    recognises: Callable[[Sequence[str], Columns], bool] = has_case_columns
    golds: Callable[[Library, Sequence[Case], Mapping[str, Mapping[str, int]], bool], CaseGolds] = (
        no_golds
    )
    answer_grade: int = DIRECT
    wider_golds: str = ""
    tools: Callable[[], Sequence[Tool]] | None = None
    harness: tuple[Stage, ...] = ()
    prompts: Path | None = None
    answer: Callable[[], type[BaseModel]] | None = None
    show: Callable[[Manual, Section], str] = text_below
    core_source: str = ""
    answer_from_hits: Callable[[Case, CaseEditions, Sequence[Hit]], RuleAnswer] | None = None
    scorer: Callable[[], Scorer] = lambda: EXACT_ONLY
    predicted_keys: Callable[[Any], set[str]] = no_keys
    published: Callable[[], Published] | None = None
    example: str = ""
    last_day: tuple[int, int] = (12, 31)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of its corpus, in their order."""
        return in_corpus(self.corpus)


#: the domains by name
DOMAINS: Registry[Domain] = Registry("tam.domains", "domain")


def domains_over(corpus: str) -> tuple[Domain, ...]:
    """The domains whose cases are searched in a corpus. Raises ``BadOption`` when there is none."""
    found = tuple(domain for domain in DOMAINS.values() if domain.corpus == corpus)
    if not found:
        known = ", ".join(dict.fromkeys(domain.corpus for domain in DOMAINS.values()))
        raise BadOption(f"no domain is over the corpus {corpus!r}; there are domains over {known}")
    return found


def example_query(corpus: str) -> str:
    """A query to try on a new index; a corpus without a domain has a plain one."""
    found = (domain.example for domain in DOMAINS.values() if domain.corpus == corpus)
    return next(filter(None, found), "what to look for")
