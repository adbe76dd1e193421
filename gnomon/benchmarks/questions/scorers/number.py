"""Number: the reply is within a tolerance of the right one, whatever unit of the same kind it is in."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

from pydantic import Field, model_validator

from gnomon.benchmarks.questions.reading import answer_of
from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse, wrong
from gnomon.benchmarks.questions.units import UNITS, Unit, converted, unit_of
from gnomon.core.score import Score
from gnomon.core.words import NUMBER, closing

_NUMBER = re.compile(
    r"(?<![\w.,])([-+−]?)\s?(\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,15})?|\d{1,18}(?:[.,]\d{1,15})?|\.\d{1,15})"
    r"(?:[eE]([-+]?\d{1,3}))?(?:[  ]?(°[CF]?|%|[^\W\d_][\w/²³°-]{0,20}))?"
)
LARGEST = 1e15
SLACK = 1e-9  # of the right number: what floating point may lose


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it is written, and the unit that stands behind it."""

    value: float
    unit: Unit | None


class NumberScorer(Scorer):
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
    unit: str | None = Field(
        default=None,
        description="Unit of the file's answers, such as `m` or `km/h`; a reply may use any of its kind.",
    )

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
        unit = f" {self.unit}" if self.unit else ""
        return Truth(value=value, text=f"{value:.15g}{unit}")

    def _value(self, answer: object) -> float | None:
        if isinstance(answer, int | float) and not isinstance(answer, bool):
            return float(answer) if abs(answer) <= LARGEST else None
        return self.read(answer)[0] if isinstance(answer, str) else None

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        return closing(f"the number in {self.unit}" if self.unit else "the number", NUMBER)

    def read(self, text: str) -> tuple[float | None, str]:
        """The number of a text in the scorer's unit, or None with a flag that says why not."""
        quantities = quantities_in(text)
        if not quantities:
            return None, "no_answer"
        own = unit_of(self.unit) if self.unit else None
        if own is None:
            return (quantities[0].value, "") if len(quantities) == 1 else (None, "several_numbers")
        if any(quantity.unit is not None and quantity.unit.of != own.of for quantity in quantities):
            return None, "other_unit"
        if len(quantities) == 1:
            return converted(quantities[0].value, quantities[0].unit or own, own), ""
        return _compound(quantities, own)

    def score(self, truth: Truth, response: str) -> Score:
        answer = answer_of(response)
        value, flag = self.read(answer)
        if value is None or not math.isfinite(value):
            return wrong(flag or "no_answer")
        error = value - truth.value
        allowed = self.tolerance * (abs(truth.value) if self.relative else 1.0)
        is_right = abs(error) <= allowed + SLACK * max(abs(truth.value), abs(allowed))
        unit = f" {self.unit}" if self.unit else ""
        relative = {"relative_error": abs(error / truth.value)} if truth.value else {}
        return Score(value=float(is_right), answer=f"{value:.6g}{unit}", metrics={"error": error, **relative})

    def verdict(self, truth: Truth, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        error = metrics.get("error")
        if not isinstance(error, int | float):
            return f"Answered {answer}; right is {truth.text}."
        off = f"off by {error:+.4g}{f' {self.unit}' if self.unit else ''}" if error else "exact"
        return f"Answered {answer}; right is {truth.text} ({off})."


def _compound(quantities: list[Quantity], own: Unit) -> tuple[float | None, str]:
    """The sum of a quantity in several units, as `1 h 20 min`: each unit smaller than the one before."""
    factors = [quantity.unit.factor if quantity.unit else 0.0 for quantity in quantities]
    falls = all(first > second > 0 for first, second in pairwise(factors))
    if not falls or own.offset:
        return None, "several_numbers"
    return sum(converted(q.value, q.unit or own, own) for q in quantities), ""


def quantities_in(text: str) -> list[Quantity]:
    """The numbers of a text with their units; commas part thousands, or one is a decimal mark.

    >>> [quantity.value for quantity in quantities_in("-1,234.5 m, then 3,5 and 1e3")]
    [-1234.5, 3.5, 1000.0]
    """
    return [_quantity(match) for match in _NUMBER.finditer(text)]


def _quantity(match: re.Match[str]) -> Quantity:
    sign, digits, exponent, word = match.groups()
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    value = float(f"{digits.replace(',', '.')}e{exponent or 0}")
    return Quantity(-value if sign in ("-", "−") else value, unit_of(word) if word else None)
