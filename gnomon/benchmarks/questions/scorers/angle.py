"""Scores an angle: right within a tolerance, all the way round."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse
from gnomon.core.score import Score
from gnomon.core.words import closing
from gnomon.reading.angles import degrees_in, read_angle
from gnomon.reading.reader import Unclear

SLACK = 1e-9  # degrees that floating point may lose


class AngleScorer(Scorer):
    """An angle in degrees, modulo 360, or a point of the compass."""

    kind: ClassVar[str] = "angle"

    tolerance: float = Field(
        default=0.0, ge=0, le=180, description="Degrees that a right answer may be off, either way."
    )

    def truth(self, answer: object) -> Truth:
        """Degrees, a text with another unit of angle, or a point of the compass."""
        value = (
            degrees_in(str(answer))
            if isinstance(answer, str | int | float) and not isinstance(answer, bool)
            else None
        )
        if value is None or isinstance(value, Unclear):
            raise refuse(answer, "an angle in degrees, nor a point of the compass such as NE")
        return Truth(value=value, text=f"{value:.12g}°")

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        return closing("<degrees>")

    def score(self, truth: Truth, response: str) -> Score:
        reading = read_angle(response)
        if reading.value is None:
            return reading.nothing()
        error = (reading.value - truth.value + 180) % 360 - 180
        return Score(
            value=float(abs(error) <= self.tolerance + SLACK),
            answer=f"{reading.value:.6g}°",
            metrics={"error_deg": error},
            read_by=reading.read_by,
        )

    def verdict(self, truth: Truth, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        error = metrics.get("error_deg")
        off = f" ({abs(error):.3g}° off)" if isinstance(error, int | float) and error else ""
        return f"Answered {answer}; right is {truth.text}{off}."
