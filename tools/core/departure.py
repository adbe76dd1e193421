"""Departure: where, when, how fast and whither a target went when it was last seen."""

from pydantic import Field

from tools.core.location import Location
from tools.core.tool import ToolArgs


class Departure(ToolArgs):
    """The end of a sighting; speed and heading are those of the target as it left."""

    at: Location = Field(description="where it was last seen: exactly one of camera, place, or x_m with y_m")
    time_s: float = Field(ge=-1e9, le=1e9, description="when that was, in seconds from any start")
    speed_mps: float = Field(ge=0.05, le=100, description="its speed in metres per second")
    speed_error_mps: float = Field(
        default=0.0, ge=0, le=100, description="how far off the speed may be, in metres per second"
    )
    heading_deg: float | None = Field(
        default=None, ge=-360, le=360, description="the direction it went, clockwise from north, if known"
    )
    seen_by: str | None = Field(
        default=None, max_length=200, description="id of the camera that saw it last, if known"
    )
