"""The form of an answer."""

from pydantic import BaseModel, Field


class Answer(BaseModel):
    """The rule that decides, or null when none does."""

    rule: str | None = Field(description="such as Rule D.1; null when no rule decides")
    sections: list[str] = Field(default_factory=list, description="rules that were relied on")

    def prediction(self) -> str | None:
        """The rule."""
        return self.rule
