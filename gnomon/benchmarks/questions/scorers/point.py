"""Point: the reply lies within a distance of the right position, on the Earth or in metres on a plane."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from geographiclib.geodesic import Geodesic
from pydantic import Field

from gnomon.benchmarks.questions.reading import answer_of, as_json
from gnomon.benchmarks.questions.scorers.number import quantities_in
from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse, wrong
from gnomon.core.score import Score
from gnomon.core.words import closing
from tools.core.sketch import Dot, Sketch

Position = tuple[float, float]  # latitude and longitude in degrees; or x and y in metres
NAMES = (("lat", "lon"), ("latitude", "longitude"), ("lat_deg", "lon_deg"), ("lat", "lng"))
PLANE_NAMES = (("x_m", "y_m"), ("x", "y"))
LARGEST_M = 1e9


class PointScorer(Scorer):
    """A position, right within so many metres."""

    kind: ClassVar[str] = "point"

    within_m: float = Field(gt=0, le=2.1e7, description="Metres that a right answer may be away.")
    on: Literal["earth", "plane"] = Field(
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
        return closing(what, f'"{sample}"')

    def position(self, written: object) -> Position | None:
        """The position of a GeoJSON Point, a mapping, a pair or a text; None where it is none."""
        if isinstance(written, str):
            value = as_json(written) if written.lstrip()[:1] in ("{", "[") else None
            if value is None:
                return self._checked(_pair_in(written))
            written = value
        if isinstance(written, Mapping):
            return self._checked(self._named(written))
        if isinstance(written, Sequence):
            return self._checked(written)
        return None

    def _named(self, fields: Mapping[str, Any]) -> Sequence[Any] | None:
        if isinstance(fields.get("geometry"), Mapping):
            fields = fields["geometry"]
        coordinates = fields.get("coordinates")
        if fields.get("type") == "Point" and isinstance(coordinates, list) and len(coordinates) >= 2:
            return coordinates[1::-1] if self.on == "earth" else coordinates[:2]
        names = NAMES if self.on == "earth" else PLANE_NAMES
        return next(([fields[a], fields[b]] for a, b in names if a in fields and b in fields), None)

    def _checked(self, pair: Sequence[Any] | None) -> Position | None:
        if (
            pair is None
            or len(pair) != 2
            or any(isinstance(x, bool) or not isinstance(x, int | float) for x in pair)
        ):
            return None
        first, second = float(pair[0]), float(pair[1])
        most = (90.0, 180.0) if self.on == "earth" else (LARGEST_M, LARGEST_M)
        return (first, second) if abs(first) <= most[0] and abs(second) <= most[1] else None

    def score(self, truth: Truth, response: str) -> Score:
        answer = answer_of(response)
        position = self.position(answer) or self.position(_last_object(response))
        if position is None:
            return wrong("no_answer")
        distance_m = self._apart_m(truth.value, position)
        return Score(
            value=float(distance_m <= self.within_m),
            answer=_text(position),
            metrics={"distance_m": distance_m},
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
        position = truth.value if answer is None else self.position(answer_of(answer))
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


def _pair_in(text: str) -> Position | None:
    """The two numbers of a text; S and W behind one turn its sign.

    >>> _pair_in("60.17° N, 24.94° W"), _pair_in("-3.5, 7"), _pair_in("7")
    ((60.17, -24.94), (-3.5, 7.0), None)
    """
    parts = text.replace("°", " ").split(",") if text.count(",") == 1 else [text]
    numbers = [(q.value, part) for part in parts for q in quantities_in(part)]
    if len(numbers) != 2:
        return None
    first, second = (-v if part.rstrip(" .)")[-1:] in "SW" else v for v, part in numbers)
    return first, second


def _last_object(response: str) -> str:
    """The text of a response's last `{…}`, in which a GeoJSON point may be."""
    begin = response.rfind("{", 0, len(response))
    return response[begin : response.rfind("}") + 1] if begin >= 0 else ""
