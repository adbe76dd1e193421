"""A camera's way through a town: its pose at every frame, who moves there, what is in view, its recording."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from gnomon_tools.geometry.pose import from_yaw_pitch_roll
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.motion.travellers import Array, Traveller, corners_m
from gnomon_worlds.recordings.recording import FORMAT, Recording
from gnomon_worlds.world import World

FOV_DEG = 66.0  # of the lens, within its margins
SEEN_M = 60.0  # as far as boxes are told
NEAREST_M = 2.5
TREES_KEPT = 32


@dataclass(frozen=True, kw_only=True, eq=False)
class Tour:
    """A camera that moves. Frame k of its recording and of its clip is at `times_s[k]`.

    `poses`: x, y, z, heading (degrees clockwise from north) and pitch (degrees, up positive) a frame (n × 5).
    `clock_s` is the traffic's own time at the first frame; `draw_travellers` draws those that move besides,
    once somebody asks for them.
    """

    id: str
    world: World
    times_s: tuple[float, ...]
    poses: Array
    draw_travellers: Callable[[], tuple[Traveller, ...]] = tuple
    clock_s: float = 0.0

    @cached_property
    def travellers(self) -> tuple[Traveller, ...]:
        """Those that move besides the camera."""
        return self.draw_travellers()

    @cached_property
    def alone(self) -> "Tour":
        """The same tour without anybody else."""
        return replace(self, draw_travellers=tuple)

    @cached_property
    def places(self) -> tuple[Array, ...]:
        """The poses of each traveller (n × 3): x, y, heading."""
        return tuple(traveller.poses(self.clock_s + np.array(self.times_s)) for traveller in self.travellers)

    def mount(self, frame: int) -> Mount:
        """The camera as the renderer takes it."""
        x_m, y_m, z_m, heading_deg, pitch_deg = self.poses[frame].tolist()
        return Mount(
            xy_m=(x_m, y_m),
            height_m=z_m,
            heading_deg=heading_deg,
            fov_deg=FOV_DEG,
            range_m=SEEN_M,
            pitch_deg=pitch_deg,
        )

    @cached_property
    def in_view(self) -> NDArray[np.bool_]:
        """For each frame and traveller (n × m), whether its middle is in the picture and nothing hides it."""
        if not self.travellers:
            return np.zeros((len(self.times_s), 0), bool)
        middles_m = np.stack([place[:, :2] for place in self.places], axis=1)  # n × m × 2
        points = np.ones((*middles_m.shape[:2], 4))
        points[..., :2] = middles_m
        points[..., 2] = [traveller.size_m[2] / 2 for traveller in self.travellers]
        mounts = [self.mount(frame) for frame in range(len(self.times_s))]
        lenses = np.stack([mount.projection() for mount in mounts])
        u, v, depth_m = np.moveaxis(points @ lenses.transpose(0, 2, 1), 2, 0)
        width, height = mounts[0].image_size
        views: NDArray[np.bool_] = (depth_m > NEAREST_M) & (depth_m < SEEN_M)
        views &= (u > 0) & (u < width * depth_m) & (v > 0) & (v < height * depth_m)
        frames, numbers = np.nonzero(views)
        if not len(frames):
            return views
        sights = np.asarray(
            shapely.linestrings(np.stack([self.poses[frames, :2], middles_m[frames, numbers]], axis=1))
        )
        views[frames, numbers] &= ~self._hidden(frames, numbers, sights)
        return views

    def _hidden(
        self, frames: NDArray[np.intp], numbers: NDArray[np.intp], sights: NDArray[np.object_]
    ) -> NDArray[np.bool_]:
        """Whether a wall or somebody stands in the line of sight, whatever their heights."""
        hidden = np.zeros(len(frames), bool)
        hidden[walls_of(self.world).query(sights, predicate="intersects")[0]] = True
        for number, (traveller, place) in enumerate(zip(self.travellers, self.places, strict=True)):
            others = numbers != number
            bases = np.asarray(shapely.polygons(corners_m(place, traveller.size_m)))
            hidden[others] |= shapely.intersects(bases[frames[others]], sights[others])
        return hidden

    def track(self, name: str | None) -> Array:
        """Where a traveller's middle is in every frame, as recordings tell it (n × 3); None: the camera."""
        if name is None:
            return np.array([[round(metres, 4) for metres in pose[:3]] for pose in self.poses.tolist()])
        number = self.number(name)
        height_m = self.travellers[number].size_m[2] / 2
        return np.array(
            [(round(x_m, 4), round(y_m, 4), height_m) for x_m, y_m, _ in self.places[number].tolist()]
        )

    def number(self, name: str) -> int:
        return next(n for n, traveller in enumerate(self.travellers) if traveller.name == name)

    @cached_property
    def recording(self) -> Recording:
        """Poses of the camera, and boxes of those in view, frame by frame."""
        frames = []
        camera_m = self.track(None).tolist()
        middles_m = [self.track(traveller.name).tolist() for traveller in self.travellers]
        for frame, time_s in enumerate(self.times_s):
            boxes = {}
            for number in np.nonzero(self.in_view[frame])[0].tolist():
                traveller, facing_deg = self.travellers[number], float(self.places[number][frame, 2])
                boxes[traveller.name] = {
                    "centre_m": tuple(middles_m[number][frame]),
                    "size_m": traveller.size_m,
                    "heading_deg": round(90 - facing_deg, 4),
                }
            heading_deg, pitch_deg = self.poses[frame, 3:].tolist()
            turned = from_yaw_pitch_roll(90 - heading_deg, -pitch_deg, 0.0)
            camera = {"position_m": camera_m[frame], "rotation": turned.round(8).tolist()}
            frames.append({"time_s": time_s, "camera": camera, "boxes": boxes})
        return Recording.model_validate(
            {
                "format": FORMAT,
                "id": self.id,
                "clip": clip_name(self.id),
                "scene": "outdoor",
                "camera_forward": "x",
                "camera_up": "z",
                "objects": {traveller.name: traveller.words for traveller in self.travellers},
                "frames": frames,
            }
        )


def clip_name(tour_id: str) -> str:
    """The file name of a tour's clip; STI-Bench's rules read `outdoor` off it."""
    return f"camera_{tour_id}.mp4"


@lru_cache(TREES_KEPT)
def walls_of(world: World) -> shapely.STRtree:
    """The buildings of a town, in a tree for sight lines."""
    return shapely.STRtree([building.area for building in world.buildings])
