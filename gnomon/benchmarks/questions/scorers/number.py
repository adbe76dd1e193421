"""Number: how near the reply comes to the right one, whatever unit of the same kind it is in."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, model_validator

from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse
from gnomon.core.score import Score
from gnomon.core.words import NUMBER, closing
from gnomon.reading.quantities import number_of, read_number
from gnomon.reading.units import UNITS, unit_of

UNIT = "Unit of the file's answers, such as `m` or `km/h`; a reply may use any of its kind."
LARGEST = 1e15
ALLOWED_PERCENT = range(5, 51, 5)  # 1 less the thresholds 0.95, 0.9, …, 0.5
SLACK = 1e-9  # of the right number: what floating point may lose


class QuantityScorer(Scorer):
    """A number in a unit, or in none."""

    if TYPE_CHECKING:  # each scorer has it among its own parameters
        unit: str | None

    @model_validator(mode="after")
    def _unit_exists(self) -> Self:
        if self.unit is not None and unit_of(self.unit) is None:
            raise ValueError(f"unit: no {self.unit!r}; allowed: {', '.join(UNITS)}")
        return self

    def truth(self, answer: object) -> Truth:
        """A number, or a text that holds one, with the scorer's unit or another of its kind behind it."""
        value = self._value(answer)
        if value is None or not math.isfinite(value) or abs(value) > LARGEST:
            raise refuse(answer, f"a number{f' in {self.unit}' if self.unit else ''}")
        return Truth(value=value, text=f"{value:.15g}{self._behind()}")

    def _value(self, answer: object) -> float | None:
        if isinstance(answer, int | float) and not isinstance(answer, bool):
            return float(answer) if abs(answer) <= LARGEST else None
        value = number_of(answer, unit_of(self.unit or "")) if isinstance(answer, str) else None
        return value if isinstance(value, float) else None

    def _behind(self) -> str:
        return f" {self.unit}" if self.unit else ""

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        return closing(f"{NUMBER} {self.unit}" if self.unit else NUMBER)

    def score(self, truth: Truth, response: str) -> Score:
        reading = read_number(response, self.unit)
        if reading.value is None:
            return reading.nothing()
        error = reading.value - truth.value
        return Score(
            value=self._worth(error, truth.value),
            answer=f"{reading.value:.6g}{self._behind()}",
            metrics={"error": error, **({"relative_error": abs(error / truth.value)} if truth.value else {})},
            read_by=reading.read_by,
        )

    @abstractmethod
    def _worth(self, error: float, right: float) -> float:
        """The score of an answer that is off by so much."""

    def verdict(self, truth: Truth, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        error = metrics.get("error")
        if not isinstance(error, int | float):
            return f"Answered {answer}; right is {truth.text}."
        off = f"off by {error:+.4g}{self._behind()}" if error else "exact"
        return f"Answered {answer}; right is {truth.text} ({off})."


class NumberScorer(QuantityScorer):
    """A number, right within the tolerance."""

    kind: ClassVar[str] = "number"

    tolerance: float = Field(
        default=0.0,
        ge=0,
        le=1e15,
        description="How far off a right answer may be, in the unit of the answer.",
    )
    relative: bool = Field(
        default=False, description="Whether the tolerance is a share of the right number instead; 0.05: 5 %."
    )

    unit: str | None = Field(default=None, description=UNIT)

    def _worth(self, error: float, right: float) -> float:
        allowed = self.tolerance * (abs(right) if self.relative else 1.0)
        return float(abs(error) <= allowed + SLACK * max(abs(right), abs(allowed)))


class MraScorer(QuantityScorer):
    """Mean relative accuracy, as VSI-Bench has it: the share of ten thresholds that the error keeps below."""

    kind: ClassVar[str] = "mra"

    unit: str | None = Field(default=None, description=UNIT)

    def truth(self, answer: object) -> Truth:
        """A number above 0, or a text that holds one."""
        truth = super().truth(answer)
        if truth.value <= 0:
            raise refuse(answer, "a number above 0, of which an error could be a share")
        return truth

    def _worth(self, error: float, right: float) -> float:
        """The share of thresholds that hold; at its edge one does, as in the released code."""
        share = abs(error) / right - SLACK
        return sum(share <= allowed / 100 for allowed in ALLOWED_PERCENT) / len(ALLOWED_PERCENT)
