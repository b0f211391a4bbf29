"""What a system must return, as pydantic schemas that a model is given and its answer checked by."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

#: the form of an ICD-10-CM code: a category of three characters, then up to four more; dot optional
_CODE = re.compile(r"^[A-Z](?:[0-9][0-9A-Z]|A[0-9])(\.?[0-9A-Z]{1,4})?$")

Domain = Literal["icd", "legal"]


class IcdCode(BaseModel):
    """One diagnosis code with its support."""

    model_config = ConfigDict(extra="ignore")

    code: str = Field(description="ICD-10-CM code, for example E11.22")
    confidence: float = Field(ge=0, le=1, description="0 to 1")
    rationale: str = Field(default="", description="why this code, in one sentence")
    evidence: str = Field(default="", description="the words of the case that support it")

    @field_validator("code")
    @classmethod
    def _well_formed(cls, value: str) -> str:
        code = value.strip().upper()
        if not _CODE.match(code):
            raise ValueError(f"{value!r} does not have the form of an ICD-10-CM code")
        return code


class IcdAnswer(BaseModel):
    """Diagnosis codes in order; the first is the primary diagnosis."""

    model_config = ConfigDict(extra="ignore")

    codes: list[IcdCode] = Field(description="in sequence order, primary diagnosis first")
    sections: list[str] = Field(
        default_factory=list, description="keys of the manual sections that the answer rests on"
    )

    def prediction(self) -> list[str]:
        """Codes in order, each once."""
        return list(dict.fromkeys(code.code for code in self.codes))


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


ANSWERS: dict[str, type[IcdAnswer] | type[LegalAnswer]] = {"icd": IcdAnswer, "legal": LegalAnswer}
