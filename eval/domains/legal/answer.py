"""The answer to a legal case, as a schema that a model is given and its answer is checked by."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class LegalAnswer(BaseModel):
    """The total offense level and what the manual supports beside it."""

    model_config = ConfigDict(extra="ignore")

    offense_level: Annotated[int, Field(ge=1, le=43)] | None = Field(
        description="total offense level, or null when the manual and the facts do not support one"
    )
    criminal_history_category: Literal["I", "II", "III", "IV", "V", "VI"] | None = Field(
        default=None, description="null when unsupported"
    )
    guideline_range_months: tuple[int, int] | None = Field(
        default=None, description="minimum and maximum in months, null when unsupported"
    )
    confidence: float = Field(default=0.0, ge=0, le=1, description="0 to 1")
    rationale: str = Field(default="", description="the calculation, step by step, in short")
    evidence: list[str] = Field(
        default_factory=list, description="words of the case that support the steps"
    )
    sections: list[str] = Field(
        default_factory=list, description="keys of the manual sections that the answer rests on"
    )

    def prediction(self) -> int | None:
        """The offense level."""
        return self.offense_level
