"""A sketch of what a call asked and got: points, lines, areas and times, for a person to look at.

Positions are those of the sketch's `plane`: a scene's metres, pixels of a picture, or degrees on the Earth.
A sketch says where things are, not what they look like; `gnomon.drawing` draws it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

XY = tuple[float, float]  # metres east and north; pixels right and down; or longitude and latitude in degrees
Plane = Literal["scene", "picture", "earth"]
Role = Literal["asked", "result", "problem"]  # what the call named; what it gave back; where it failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A position; `radius_m` is how far off it may be."""

    at: XY
    label: str = ""
    role: Role = "result"
    floor: int = 0
    radius_m: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A route, a track or a straight line; `times_s` are the times of its points, where they are known."""

    points: tuple[XY, ...]
    label: str = ""
    role: Role = "result"
    floor: int = 0
    times_s: tuple[float, ...] = ()
    has_arrow: bool = False  # at its last point
    is_dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """The inside of a ring of points: a field of view, a zone, a part of a picture."""

    ring: tuple[XY, ...]
    label: str = ""
    role: Role = "result"
    floor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch on the clock, in seconds on the question's own clock; an instant where both ends are equal.

    `error_s` is how far off the ends may be.
    """

    start_s: float
    end_s: float
    label: str = ""
    role: Role = "result"
    error_s: float | None = None


Mark = Dot | Line | Area
"""What is drawn at a place: a dot, a line or an area."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """What to draw of one call. `cameras` are drawn with emphasis; `picture` is the hash of what lies below
    marks in pixels.

    >>> bool(Sketch()), bool(Sketch(cameras=("c1",)))
    (False, True)
    """

    summary: str = ""  # one line: the main argument → the main result, in plain words
    marks: tuple[Mark, ...] = ()
    spans: tuple[Span, ...] = ()
    cameras: tuple[str, ...] = ()
    plane: Plane = "scene"
    picture: str | None = None

    def __bool__(self) -> bool:
        return bool(self.marks or self.spans or self.cameras)


Result = Mapping[str, Any]
"""A recorded result: the JSON object that the model was given."""
