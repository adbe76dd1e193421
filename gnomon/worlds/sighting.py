"""Sighting: a stay of a target in a camera's field of view."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import shapely
from shapely import LineString, Polygon

from gnomon.worlds.movement import Journey, Stretch
from gnomon.worlds.world import Spot
from tools.geometry.field_of_view import crossings
from tools.scene.scene import Camera


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """The target is in view of `camera` from `start_s` to `end_s`, and neither just before nor just after."""

    camera: str
    start_s: float
    end_s: float
    entry: Spot
    exit: Spot

    @property
    def stay_s(self) -> float:
        return self.end_s - self.start_s

    def later(self, by_s: float) -> "Sighting":
        """The same stay, `by_s` seconds later."""
        return replace(self, start_s=self.start_s + by_s, end_s=self.end_s + by_s)


def sightings(journey: Journey, cameras: Collection[Camera]) -> tuple[Sighting, ...]:
    """Every stay of the target in view of one of the cameras, in order of time; exact, however short."""
    found = [
        _stay(journey, camera.id, stretch.time_at_s(enters_m), stretch.time_at_s(leaves_m))
        for stretch in journey.stretches
        for camera, view in _met(stretch, cameras)
        for enters_m, leaves_m in crossings(stretch.points_m, view)
    ]
    return tuple(sorted(found, key=lambda sighting: sighting.start_s))


def _met(stretch: Stretch, cameras: Collection[Camera]) -> list[tuple[Camera, Polygon]]:
    """The cameras of the stretch's floor whose views it meets at all, found at once: most are not met."""
    here = [
        (camera, camera.field_of_view)
        for camera in cameras
        if camera.field_of_view is not None and camera.floor == stretch.floor
    ]
    met = shapely.intersects([view for _, view in here], LineString(stretch.points_m))
    return [one for one, is_met in zip(here, met, strict=True) if is_met]


def _stay(journey: Journey, camera: str, start_s: float, end_s: float) -> Sighting:
    return Sighting(
        camera=camera, start_s=start_s, end_s=end_s, entry=journey.at(start_s), exit=journey.at(end_s)
    )
