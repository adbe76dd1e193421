"""Installation: which cameras hang in a world, drawn by lot from those that could."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

import shapely
from shapely import Polygon

from gnomon.worlds.mount import Mount
from gnomon.worlds.names import camera_ids
from tools.scene.scene import Camera


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Where a camera could hang; walls of `room` bound what it sees."""

    mount: Mount
    floor: int = 0
    room: Polygon | None = None

    def camera(self, camera_id: str) -> Camera:
        """The camera that hangs so."""
        view = self.mount.field_of_view()
        return Camera(
            id=camera_id,
            xy_m=self.mount.xy_m,
            floor=self.floor,
            heading_deg=self.mount.heading_deg % 360,
            fov_deg=self.mount.fov_deg,
            range_m=self.mount.range_m,
            field_of_view=view if self.room is None else self.room.intersection(view),
            homography=self.mount.homography(),
            image_size=self.mount.image_size,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Cameras by id, how each hangs, and the views of those that could hang as well but don't.

    Whether a candidate was built is a matter of lot alone. So a view on a target's way tells nothing by
    its place or time about whether it belongs to a camera: questions about times rely on that.
    """

    cameras: Mapping[str, Camera]
    mounts: Mapping[str, Mount]
    unbuilt: tuple[Camera, ...]


def install(rng: Random, candidates: Iterable[Candidate], *, count: int, apart_m: float) -> Installation:
    """Take candidates whose fields of view keep `apart_m` from one another, then build `count` of them."""
    taken: list[Candidate] = []
    views: dict[int, list[Polygon]] = {}
    for candidate in candidates:
        view = candidate.camera("").field_of_view
        others = views.setdefault(candidate.floor, [])
        if view is not None and shapely.distance(view, others).min(initial=math.inf) >= apart_m:
            taken.append(candidate)
            others.append(view)
    rng.shuffle(taken)
    hung = {
        camera_id: candidate for camera_id, candidate in zip(camera_ids(rng, len(taken)), taken, strict=True)
    }
    cameras = {camera_id: candidate.camera(camera_id) for camera_id, candidate in hung.items()}
    built = list(hung)[:count]
    return Installation(
        cameras={camera_id: cameras[camera_id] for camera_id in built},
        mounts={camera_id: hung[camera_id].mount for camera_id in built},
        unbuilt=tuple(camera for camera_id, camera in cameras.items() if camera_id not in built),
    )
