"""Reads recordings: boxes and camera poses frame by frame, in a file format for any tracking data."""

import itertools
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gnomon.core.errors import DataError
from gnomon_tools.geometry.pose import Axis, NotARotation, Pose, nearest_rotation

FORMAT = "gnomon-motion/1"
MAX_BYTES = 200_000_000

Array = NDArray[np.float64]
Number = Annotated[float, Field(ge=-1e7, le=1e7)]
Triple = tuple[Number, Number, Number]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class CameraAt(_Strict):
    """The camera's pose: `rotation` maps its own axes to the world's."""

    position_m: Triple
    rotation: tuple[Triple, Triple, Triple]

    @model_validator(mode="after")
    def _is_turned_and_not_bent(self) -> Self:
        try:
            self.pose()
        except NotARotation as error:
            raise ValueError(str(error)) from None
        return self

    def pose(self) -> Pose:
        """The pose, its rotation mended of rounding."""
        return self._mended

    @cached_property
    def _mended(self) -> Pose:
        rotation = nearest_rotation(np.array(self.rotation, dtype=float))
        return Pose(position_m=np.array(self.position_m, dtype=float), rotation=rotation)


class BoxAt(_Strict):
    """An object's box in the world: centre, length, width and height, heading about z from x (degrees)."""

    centre_m: Triple
    size_m: tuple[Annotated[float, Field(gt=0, le=1e5)], ...] = Field(min_length=3, max_length=3)
    heading_deg: Number = 0.0


class Frame(_Strict):
    """One moment."""

    time_s: Annotated[float, Field(ge=0, le=1e6)]
    camera: CameraAt
    boxes: dict[str, BoxAt] = {}


class Recording(_Strict):
    """A clip's frames in order. World: metres, z up. `objects` describes each box so that it can be found."""

    format: Literal["gnomon-motion/1"]
    id: str = Field(min_length=1, max_length=200)
    clip: str = Field(min_length=1, max_length=200)
    scene: Literal["outdoor", "indoor", "desktop"]
    camera_forward: Axis = "z"
    camera_up: Axis = "-y"
    objects: dict[str, str] = {}
    frames: tuple[Frame, ...] = Field(min_length=2, max_length=100_000)

    @model_validator(mode="after")
    def _runs_on(self) -> Self:
        times = [frame.time_s for frame in self.frames]
        if any(after - before < 1e-6 for before, after in itertools.pairwise(times)):
            raise ValueError("frames: time_s must rise from frame to frame")
        if self.camera_forward[-1] == self.camera_up[-1]:
            raise ValueError("camera_forward and camera_up must be different axes")
        unknown = sorted({name for frame in self.frames for name in frame.boxes} - set(self.objects))
        if unknown:
            raise ValueError(f"objects: no words for {', '.join(unknown[:5])}")
        return self

    def at(self, time_s: float) -> Frame:
        """The frame nearest to a time."""
        return min(self.frames, key=lambda frame: abs(frame.time_s - time_s))

    def part(self, first: int, last: int) -> "Recording":
        """The frames from `first` to `last`; two at least."""
        return self.model_copy(update={"frames": self.frames[first : last + 1]})

    def track(self, name: str | None) -> tuple[Array, Array]:
        """Times (n) and centres (n × 3) of an object in the frames that have it; None: of the camera."""
        if name is None:
            positions = [(frame.time_s, frame.camera.position_m) for frame in self.frames]
        else:
            positions = [
                (frame.time_s, frame.boxes[name].centre_m) for frame in self.frames if name in frame.boxes
            ]
        return np.array([time_s for time_s, _ in positions]), np.array(
            [at for _, at in positions], dtype=float
        )


def read_recording(path: Path) -> Recording:
    """Read the neutral format.

    Raises:
        DataError: the file is absent, too large or not of that format; the message names the field.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path.name} is larger than {MAX_BYTES:,} bytes")
        fields: Mapping[str, Any] = json.loads(path.read_bytes())
        return Recording.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise DataError(f"{path.name}: {first['msg'].removeprefix('Value error, ')}", field=field) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path.name} cannot be read as {FORMAT}: {error}") from None
