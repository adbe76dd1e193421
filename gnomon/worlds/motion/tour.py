"""A camera's way through a town: its pose at every frame, who moves there, what is in view, its recording."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray

from gnomon.recordings.recording import FORMAT, Recording
from gnomon.worlds.camera_model import Mount
from gnomon.worlds.motion.travellers import Array, Traveller, corners_m
from gnomon.worlds.world import World
from tools.geometry.pose import from_yaw_pitch_roll

FOV_DEG = 66.0  # of the lens, within its margins
SEEN_M = 60.0  # as far as boxes are told
NEAREST_M = 2.5
TREES_KEPT = 32


@dataclass(frozen=True, kw_only=True, eq=False)
class Tour:
    """A camera that moves. Frame k of its recording and of its clip is at `times_s[k]`.

    `poses`: x, y, z, heading (degrees clockwise from north) and pitch (degrees, up positive) a frame (n × 5).
    `clock_s` is the traffic's own time at the first frame; `travellers` are those that move besides.
    """

    id: str
    world: World
    times_s: tuple[float, ...]
    poses: Array
    travellers: tuple[Traveller, ...] = ()
    clock_s: float = 0.0

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
        """Of each frame and traveller (n × m), whether its middle is in the picture and nothing hides it."""
        views = np.zeros((len(self.times_s), len(self.travellers)), bool)
        if not self.travellers:
            return views
        middles_m = np.stack([place[:, :2] for place in self.places], axis=1)  # n × m × 2
        for frame in range(len(self.times_s)):
            mount = self.mount(frame)
            heights_m = [traveller.size_m[2] / 2 for traveller in self.travellers]
            points = np.column_stack([middles_m[frame], heights_m, np.ones(len(heights_m))])
            u, v, depth_m = mount.projection() @ points.T
            width, height = mount.image_size
            is_before = (depth_m > NEAREST_M) & (depth_m < SEEN_M)
            views[frame] = is_before & (u > 0) & (u < width * depth_m) & (v > 0) & (v < height * depth_m)
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
            bases = np.asarray(shapely.polygons([corners_m(pose, traveller.size_m) for pose in place]))
            hidden |= (numbers != number) & shapely.intersects(bases[frames], sights)
        return hidden

    @cached_property
    def recording(self) -> Recording:
        """Poses of the camera, and boxes of those in view, frame by frame."""
        frames = []
        for frame, time_s in enumerate(self.times_s):
            boxes = {}
            for number in np.nonzero(self.in_view[frame])[0].tolist():
                traveller, (x_m, y_m, facing_deg) = (
                    self.travellers[number],
                    self.places[number][frame].tolist(),
                )
                boxes[traveller.name] = {
                    "centre_m": (round(x_m, 4), round(y_m, 4), traveller.size_m[2] / 2),
                    "size_m": traveller.size_m,
                    "heading_deg": round(90 - facing_deg, 4),
                }
            *position_m, heading_deg, pitch_deg = self.poses[frame].tolist()
            turned = from_yaw_pitch_roll(90 - heading_deg, -pitch_deg, 0.0)
            camera = {
                "position_m": [round(metres, 4) for metres in position_m],
                "rotation": turned.round(8).tolist(),
            }
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
    """The file of a tour's clip; STI-Bench's rules read `outdoor` off it."""
    return f"camera_{tour_id}.mp4"


@lru_cache(TREES_KEPT)
def walls_of(world: World) -> shapely.STRtree:
    """The buildings of a town, to look sight lines up in."""
    return shapely.STRtree([building.area for building in world.buildings])
