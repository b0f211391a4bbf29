"""The procedure by which a manual is applied to a whole case, as steps of look-ups."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Statement(NamedTuple):
    """A statement of a case: ``text`` is what is asked of ``case[start:end]``, ``weight`` what it
    counts, ``problem`` whether it names one that is to be decided on."""

    text: str
    start: int
    end: int
    weight: float = 1.0
    problem: bool = False


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step: what is looked up, and where.

    ``source`` and ``under`` (keys; none for all of the source) say where. ``cited`` takes the
    units that the case itself cites, ``mapped`` those that the manual maps these to (a row of
    Appendix A), before what is alike. ``share`` is how many of 25 sections are the step's own.
    ``statements`` are the numbers of the case's statements that ask; all when there are none.
    """

    name: str
    source: str
    share: int
    under: tuple[str, ...] = ()
    cited: bool = False
    mapped: bool = False
    stated: tuple[str, ...] = ()
    statements: tuple[int, ...] = ()


def read_steps(path: Path) -> tuple[PlanStep, ...]:
    """The steps of a plan's file (TOML, one ``[[step]]`` each), in order."""
    record = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(_step(each) for each in record["step"])


def _step(record: dict[str, Any]) -> PlanStep:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    return PlanStep(**fields)
