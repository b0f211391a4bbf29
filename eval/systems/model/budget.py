"""Tokens and cost of model calls, and the budget that stops a run cleanly."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tam.errors import RunError


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls; ``cached_input`` is the part of ``input`` served from cache."""

    input: int = 0
    output: int = 0
    cached_input: int = 0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached_input + other.cached_input,
            self.calls + other.calls,
        )

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Price:
    """Price in dollars for a million tokens."""

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, usage: Usage) -> float:
        """Dollars for the usage."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = usage.input - usage.cached_input
        return (fresh * self.input + usage.cached_input * cached + usage.output * self.output) / 1e6


def read_prices(path: Path) -> Mapping[str, Price]:
    """A price table: JSON ``{"openai:gpt-5": {"input": 1.25, "output": 10, "cached_input": 0.1}}``,
    dollars for a million tokens. Raises ``RunError`` that names the file and entry."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        prices = {
            model: Price(
                float(row["input"]),
                float(row["output"]),
                None if row.get("cached_input") is None else float(row["cached_input"]),
            )
            for model, row in table.items()
        }
        for model, price in prices.items():
            if not all(0 <= p < float("inf") for p in (price.input, price.output)):
                raise ValueError(f"a price of {model} is not a number of dollars")
        return prices
    except OSError as error:
        raise RunError(f"{path}: cannot read the price table ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(
            f"{path}: not a price table ({error!r}); write "
            '{"MODEL": {"input": DOLLARS, "output": DOLLARS}} for a million tokens'
        ) from error


class BudgetReached(Exception):
    """The run's budget is used up; the case at hand is left for the next start."""


class BudgetMeter:
    """Counts what a run spends, over all its threads, against its budget."""

    def __init__(
        self,
        price: Price | None,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        already: Usage = Usage(),
    ) -> None:
        if max_cost is not None and price is None:
            raise RunError(
                "--max-cost needs the model's price: give --prices FILE with an entry for it"
            )
        self._price = price
        self._max_cost = max_cost
        self._max_tokens = max_tokens
        self._usage = already
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """All that was spent so far, earlier starts of the run included."""
        return self._usage

    @property
    def cost(self) -> float | None:
        """Dollars so far; ``None`` without a price."""
        return self._price.cost(self._usage) if self._price else None

    def cost_of(self, usage: Usage) -> float | None:
        """Dollars for a usage; ``None`` without a price."""
        return round(self._price.cost(usage), 9) if self._price else None

    def check(self) -> None:
        """Raises ``BudgetReached`` before a call that the budget no longer allows."""
        if self._max_tokens is not None and self._usage.total >= self._max_tokens:
            raise BudgetReached(f"{self._usage.total:,} tokens of {self._max_tokens:,} are used")
        cost = self.cost
        if self._max_cost is not None and cost is not None and cost >= self._max_cost:
            raise BudgetReached(f"${cost:.2f} of ${self._max_cost:.2f} are used")

    def add(self, usage: Usage) -> None:
        """Count a call."""
        with self._lock:
            self._usage = self._usage + usage
