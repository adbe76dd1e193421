"""Departure: where, when, how fast and whither a target went when it was last seen."""

from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from tools.core.location import Location
from tools.core.tool import ToolArgs
from tools.core.track import Seconds

Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
XY = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


class Departure(ToolArgs):
    """The end of a sighting; speed and heading are those of the target as it left."""

    at: Location = Field(description="where it was last seen: exactly one of camera, place, or x_m with y_m")
    time_s: float = Field(ge=-1e9, le=1e9, description="when that was, in seconds from any start")
    speed_mps: float = Field(ge=0.05, le=100, description="its speed in metres per second")
    speed_error_mps: float = Field(
        default=0.0, ge=0, le=100, description="how far off the speed may be, in metres per second"
    )
    seen_within_m: float | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="how far a camera of unknown range sees it; 60 outdoors, 20 indoors if left out",
    )
    heading_deg: float | None = Field(
        default=None, ge=-360, le=360, description="the direction it went, clockwise from north, if known"
    )
    track_m: list[XY] = Field(
        default=[],
        max_length=1000,
        description="[x, y] of the points of the sighting, on the floor of `at`: other cameras may see them",
    )
    track_times_s: list[Seconds] = Field(
        default=[], max_length=1000, description="the times of track_m, rising, on the clock of time_s"
    )
    seen_by: str | None = Field(
        default=None, max_length=200, description="id of the camera that saw it last, if known"
    )

    @model_validator(mode="after")
    def _times_go_with_points(self) -> Self:
        if len(self.track_m) != len(self.track_times_s):
            raise ValueError(
                f"track_m has {len(self.track_m)} points but track_times_s {len(self.track_times_s)} times"
            )
        if any(later <= earlier for earlier, later in pairwise(self.track_times_s)):
            raise ValueError("track_times_s must rise strictly")
        return self
