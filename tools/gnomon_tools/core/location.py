"""How the arguments of a call name a point of the scene."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, ValidationInfo, model_validator

from gnomon_tools.core.tool import ToolArgs, ToolError
from gnomon_tools.scene.scene import Camera, Point, Scene, ScenePlace

LISTED = 30  # so many ids an error message spells out

Metres = Annotated[float, Field(ge=-1e6, le=1e6)]


class Location(ToolArgs):
    """A point, given as exactly one of: `camera`, `place`, or `x_m` with `y_m`."""

    camera: str | None = Field(default=None, max_length=200, description="id of a camera")
    place: str | None = Field(default=None, max_length=200, description="id or name of a place")
    x_m: Metres | None = Field(default=None, description="metres east of the scene's origin")
    y_m: Metres | None = Field(default=None, description="metres north of the scene's origin")
    floor: int | None = Field(
        default=None,
        ge=-1000,
        le=1000,
        description="floor of x_m, y_m; 0 if left out; not with camera or place",
    )

    @model_validator(mode="after")
    def _names_one_point(self, info: ValidationInfo) -> Self:
        by_xy = self.x_m is not None or self.y_m is not None
        scene = info.context.scene if info.context else None
        if (self.camera is not None) + (self.place is not None) + by_xy != 1:
            such = f": {name} alone, for example" if (name := self._name_alone(scene)) else ""
            raise ValueError(f"give exactly one of camera, place, or x_m with y_m{such}")
        if by_xy and (self.x_m is None or self.y_m is None):
            raise ValueError("x_m and y_m go together")
        if self.floor is not None and not by_xy:
            name = self._name_alone(scene)
            raise ValueError(f"leave out floor, which goes with x_m and y_m: give {name} alone")
        return self

    def _name_alone(self, scene: Scene | None) -> str:
        """What a call may keep, as JSON: a name that the scene knows, if there is one. A small model that is
        told a rule breaks the next one; shown this, it calls right.
        """
        names = [(field, name) for field in ("place", "camera") if (name := getattr(self, field)) is not None]
        in_scene = [(field, name) for field, name in names if scene and _is_known(scene, field, name)]
        return json.dumps(dict((in_scene or names)[:1]), ensure_ascii=False) if names else ""


def _is_known(scene: Scene, field: str, name: str) -> bool:
    return name in scene.cameras if field == "camera" else bool(_places_called(scene, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a location is, and how far off that may be."""

    xy_m: Point
    floor: int
    error_m: float


def locate(scene: Scene, location: Location) -> Position:
    """The point that `location` names.

    Raises:
        ToolError: the camera or place does not exist or has no position, or places share the name.
    """
    if location.camera is not None:
        if not scene.cameras:
            raise ToolError("The scene has no cameras; give `place`, or `x_m` with `y_m`.")
        if location.camera not in scene.cameras and _places_called(scene, location.camera):
            raise ToolError(f"There is no camera {location.camera!r}, but a place: give it as `place`.")
        camera = find_camera(scene, location.camera)
        return Position(xy_m=position_of(camera), floor=camera.floor, error_m=camera.position_error_m)
    if location.place is not None:
        if location.place in scene.cameras and not _places_called(scene, location.place):
            raise ToolError(f"There is no place {location.place!r}, but a camera: give it as `camera`.")
        place = _find_place(scene, location.place)
        return Position(xy_m=place.xy_m, floor=place.floor, error_m=0.0)
    assert location.x_m is not None  # noqa: S101  # the type's own promise
    assert location.y_m is not None  # noqa: S101  # the type's own promise
    return Position(xy_m=(location.x_m, location.y_m), floor=location.floor or 0, error_m=0.0)


def find_camera(scene: Scene, camera: str) -> Camera:
    """The camera of that id.

    Raises:
        ToolError: the camera does not exist; lists those that do.
    """
    if camera not in scene.cameras:
        raise ToolError(f"There is no camera {camera!r}. Cameras: {listed(scene.cameras)}.")
    return scene.cameras[camera]


def position_of(camera: Camera) -> Point:
    """Where the camera stands.

    Raises:
        ToolError: the camera's position is unknown.
    """
    if camera.xy_m is None:
        raise ToolError(f"The position of camera {camera.id!r} is unknown.")
    return camera.xy_m


def listed(names: Iterable[str]) -> str:
    """Names for a message, shortened when there are many.

    >>> listed(["a", "b"]), listed([]), listed(str(n) for n in range(40))[-14:]
    ('a, b', 'none', '29 and 10 more')
    """
    all_names = list(names)
    more = f" and {len(all_names) - LISTED} more" if len(all_names) > LISTED else ""
    return ", ".join(all_names[:LISTED]) + more or "none"


def _places_called(scene: Scene, name: str) -> list[ScenePlace]:
    if name in scene.places:
        return [scene.places[name]]
    return [place for place in scene.places.values() if place.name.casefold() == name.casefold()]


def _find_place(scene: Scene, name: str) -> ScenePlace:
    named = _places_called(scene, name)
    if not named:
        own_names = (f"{place.id} ({place.name})" for place in scene.places.values())
        raise ToolError(f"There is no place {name!r}. Places: {listed(own_names)}.")
    if len(named) > 1:
        candidates = (f"{place.id} ({place.kind}, floor {place.floor})" for place in named)
        raise ToolError(f"Several places are called {name!r}; give one by its id: {listed(candidates)}.")
    return named[0]
