"""Installation: which cameras hang in a world, drawn by lot from those that could."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

import shapely
from shapely import Polygon

from gnomon.worlds.camera_model import Mount
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
        if self.room is not None:
            seen = self.room.intersection(view)
            view = seen if isinstance(seen, Polygon) else Polygon()
        return Camera(
            id=camera_id,
            xy_m=self.mount.xy_m,
            floor=self.floor,
            heading_deg=self.mount.heading_deg % 360,
            fov_deg=self.mount.fov_deg,
            range_m=self.mount.range_m,
            field_of_view=view,
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
    """Take candidates whose fields of view keep `apart_m` from one another, then build `count` of them.

    Raises:
        ValueError: fewer than `count` candidates keep apart.
    """
    taken: list[Candidate] = []
    views: dict[int, list[Polygon]] = {}
    for candidate in candidates:
        view = candidate.camera("").field_of_view
        others = views.setdefault(candidate.floor, [])
        if view and shapely.distance(view, others).min(initial=math.inf) >= apart_m:
            taken.append(candidate)
            others.append(view)
    if len(taken) < count:
        raise ValueError(f"{count} cameras wanted, but only {len(taken)} places keep {apart_m:g} m apart")
    rng.shuffle(taken)
    built = dict(zip(camera_ids(rng, count), taken[:count], strict=True))
    return Installation(
        cameras={camera_id: candidate.camera(camera_id) for camera_id, candidate in built.items()},
        mounts={camera_id: candidate.mount for camera_id, candidate in built.items()},
        unbuilt=tuple(candidate.camera(f"u{number:02d}") for number, candidate in enumerate(taken[count:])),
    )
