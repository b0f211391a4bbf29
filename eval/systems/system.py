"""What a system is: a way from a case to an answer, registered under ``tam.systems``.

``docs/guides/system.md`` shows one of a screen's length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eval.domains.model import Domain
from eval.systems.solvers.case_state import CaseOutcome, CaseState
from tam.errors import MissingExtra, RunError
from tam.plugins import Hook, Registry

#: packages of the extra ``llm``
_LLM = frozenset({"langchain", "langchain_core", "langgraph", "deepagents", "openai", "jinja2"})


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system.

    ``solve`` never asks for a domain's name; ``domain_parts`` are the fields of ``Domain`` that it
    uses and a domain may lack. ``options`` are the options of ``tam run`` that it reads beside
    those of every run; with ``search`` among them the index is tried before anything is paid for.
    """

    name: str
    order: int
    title: str
    solve: Callable[[CaseState], CaseOutcome]
    needs_model: bool = True
    options: tuple[str, ...] = ()
    domain_parts: tuple[str, ...] = ()

    def check(self, domain: Domain) -> None:
        """Raises ``RunError`` when the domain lacks a part, ``MissingExtra`` for a package."""
        lacking = [part for part in self.domain_parts if not getattr(domain, part)]
        if lacking:
            raise RunError(
                f"the domain {domain.name} has no {lacking[0]}, which the system {self.name} "
                f"needs; choose another system"
            )
        try:
            if isinstance(self.solve, Hook):
                self.solve.load()
        except ModuleNotFoundError as error:
            package = (error.name or "").split(".")[0]
            if package in _LLM:
                raise MissingExtra(package, "llm", f"the system {self.name}") from error
            raise


#: the systems by name
SYSTEMS: Registry[System] = Registry("tam.systems", "system")
