"""Point: the reply lies within a distance of the right position, on the Earth or in metres on a plane."""

import math
from collections.abc import Mapping
from typing import ClassVar

from geographiclib.geodesic import Geodesic
from pydantic import Field

from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse
from gnomon.core.score import Score
from gnomon.core.words import closing
from gnomon.reading.points import Ground, Position, position_in, position_of, read_point
from gnomon.reading.reader import Unclear
from gnomon_tools.core.sketch import Dot, Sketch


class PointScorer(Scorer):
    """A position, right within so many metres."""

    kind: ClassVar[str] = "point"

    within_m: float = Field(gt=0, le=2.1e7, description="Metres that a right answer may be away.")
    on: Ground = Field(
        default="earth",
        description="`earth`: latitude, longitude in degrees, or GeoJSON; `plane`: x, y in metres.",
    )

    def truth(self, answer: object) -> Truth:
        """A GeoJSON Point, `{"lat": …, "lon": …}`, `[lat, lon]` or `lat, lon`; on a plane x and y alike."""
        position = self.position(answer)
        if position is None:
            raise refuse(answer, "latitude, longitude in degrees" if self.on == "earth" else "x, y in metres")
        return Truth(value=position, text=_text(position))

    def form(self, truth: Truth) -> str:  # noqa: ARG002 (the same for all)
        if self.on == "earth":
            what, sample = "latitude and longitude in degrees", "<latitude>, <longitude>"
        else:
            what, sample = "x and y in metres", "<x>, <y>"
        return closing(sample, what)

    def position(self, written: object) -> Position | None:
        """The position of a GeoJSON Point, a mapping, a pair or a text; None where it is none."""
        position = (
            position_in(written, self.on) if isinstance(written, str) else position_of(written, self.on)
        )
        return None if isinstance(position, Unclear) else position

    def score(self, truth: Truth, response: str) -> Score:
        reading = read_point(response, self.on)
        position = reading.value
        if position is None:
            return reading.nothing()
        distance_m = self._apart_m(truth.value, position)
        return Score(
            value=float(distance_m <= self.within_m),
            answer=_text(position),
            metrics={"distance_m": distance_m},
            read_by=reading.read_by,
        )

    def _apart_m(self, first: Position, second: Position) -> float:
        if self.on == "plane":
            return math.dist(first, second)
        return float(Geodesic.WGS84.Inverse(*first, *second, Geodesic.DISTANCE)["s12"])

    def verdict(self, truth: Truth, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        distance_m = metrics.get("distance_m")
        off = f", {distance_m:,.3g} m away" if isinstance(distance_m, int | float) else ""
        return f"Answered {answer}; right is within {self.within_m:g} m of {truth.text}{off}."

    def sketch(self, truth: Truth, answer: str | None) -> Sketch:
        position = truth.value if answer is None else self.position(answer)
        if position is None:
            return Sketch()
        at = (position[1], position[0]) if self.on == "earth" else position
        dot = (
            Dot(at=at, label="right", radius_m=self.within_m)
            if answer is None
            else Dot(at=at, label="answer", role="asked")
        )
        return Sketch(marks=(dot,), plane="earth" if self.on == "earth" else "scene")


def _text(position: Position) -> str:
    return f"{position[0]:.7g}, {position[1]:.7g}"
