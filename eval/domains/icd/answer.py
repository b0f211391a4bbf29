"""The answer to an ICD case, as a schema that a model is given and its answer is checked by."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, field_validator

#: the form of an ICD-10-CM code: a category of three characters, then up to four more; dot optional
_CODE = re.compile(r"^[A-Z](?:[0-9][0-9A-Z]|A[0-9])(\.?[0-9A-Z]{1,4})?$")


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
