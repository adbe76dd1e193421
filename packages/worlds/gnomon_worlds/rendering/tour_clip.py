"""The clip of a camera that moves: all of the town is drawn anew for every frame."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.motion.travellers import Traveller
from gnomon_worlds.movement import VEHICLE
from gnomon_worlds.rendering import town
from gnomon_worlds.rendering.canvas import Canvas, Lens
from gnomon_worlds.rendering.clip import Style
from gnomon_worlds.rendering.figures import pedestrian, vehicle
from gnomon_worlds.rendering.light import Light
from gnomon_worlds.rendering.scenery import NOON_HOUR, PLAIN, cast, cast_by_walker, hull
from gnomon_worlds.rendering.solid import Sheet, Solid, darker, flat, upright

TOUR_STYLE = Style(size_px=(400, 224), has_box=False, has_clock=False)
FAR_M, PLAIN_M = town.FAR_M, 75.0  # beyond, no house is drawn, and houses have no windows
TREES_M = (3.0, 70.0)  # nearest and farthest that are drawn; lamps likewise
SHADOWS_M = 110.0  # of the camera, within which shadows are drawn
MOVERS_M = 110.0  # beyond, nobody is drawn
MOVERS = 3  # owner of the first traveller's pixels; the next one's is one more
MIDDLE_LINE_M = (0.0,)
WALKING_MPS = 1.3


@dataclass(frozen=True, kw_only=True, eq=False)
class TourClip:
    """What a tour's camera sees at each of its frames."""

    tour: Tour
    style: Style = TOUR_STYLE

    @property
    def times_s(self) -> tuple[float, ...]:
        """The moment of each frame."""
        return self.tour.times_s

    def pictures(self, frames: Sequence[int] | None = None) -> Iterator[Image.Image]:
        for frame in range(len(self.tour.times_s)) if frames is None else frames:
            yield self.canvas(frame).picture()

    def canvas(self, frame: int) -> Canvas:
        """The fine pixels of a frame, with their owners."""
        mount = self.tour.mount(frame)
        canvas = Canvas(Lens(mount, self.style.size_px))
        canvas.draw(self._ground, self._light.still, PLAIN)
        movers = list(self._movers(frame))
        if self._light.shadow > 0:
            shadows = [*self._shadows_near(frame), *(shadow for _, shadow, _ in movers)]
            canvas.shadow(shadows, self._light.shadow)
        for house, ring_m in self._houses:
            away_m = min(math.dist(corner, mount.xy_m) for corner in ring_m)
            if away_m < FAR_M and any(canvas.may_show(corner, 8.0) for corner in ring_m):
                is_near = away_m < PLAIN_M
                canvas.draw(town.house(house) if is_near else _block(house), self._light.still, PLAIN)
        for tree in town.town_of(self.tour.world).trees_m:
            if self._stands_near(tree[:2], frame) and canvas.may_show(tree[:2], 4.0):
                canvas.draw(town.tree(tree, mount), self._light.still, PLAIN)
        for lamp in self._light.lamps_m.tolist():
            if self._stands_near(lamp, frame) and canvas.may_show(lamp, 2.0):
                canvas.draw(town.lamp((lamp[0], lamp[1]), mount), self._light.still, PLAIN)
        for solid, _, number in movers:
            canvas.draw(solid, self._light.still, MOVERS + number)
        self._light.settle(canvas)
        return canvas

    def _stands_near(self, at_m: Sequence[float], frame: int) -> bool:
        return TREES_M[0] < math.dist(at_m, self.tour.poses[frame, :2]) < TREES_M[1]

    @cached_property
    def _light(self) -> Light:
        lamps_m = town.town_of(self.tour.world).lamps_m
        near = np.hypot(*(lamps_m - self._middle_m).T) < 2 * SHADOWS_M
        return Light.outdoors(
            lat_deg=self.tour.world.scene.frame.lat_deg,
            hour=NOON_HOUR + 1.5,
            conditions=self.style.conditions,
            lamps_m=lamps_m[near],
        )

    @property
    def _middle_m(self) -> NDArray[np.float64]:
        return np.asarray(self.tour.poses[:, :2].mean(axis=0))

    @cached_property
    def _ground(self) -> Solid:
        return town.ground(self.tour.world, self.tour.mount(len(self.tour.times_s) // 2), MIDDLE_LINE_M)

    @property
    def _slope(self) -> tuple[float, float]:
        sun = self._light.sun
        return (-sun[0] / sun[2], -sun[1] / sun[2])

    @cached_property
    def _houses(self) -> list[tuple[town.Building, tuple[tuple[float, float], ...]]]:
        return [(house, house.ring_m) for house in town.town_of(self.tour.world).buildings]

    @cached_property
    def _shadows(self) -> list[NDArray[np.float64]]:
        """The shadows of all that stands still near the way."""
        slope, shadows = np.array(self._slope), []
        reach_m = SHADOWS_M + float(np.hypot(*(self.tour.poses[:, :2] - self._middle_m).T).max())
        for house, ring_m in self._houses:
            if math.dist(ring_m[0], self._middle_m) < reach_m:
                base = np.array(ring_m)
                shadows.append(hull(np.concatenate([base, base + slope * house.height_m])))
        turns = np.linspace(0, 2 * math.pi, 12, endpoint=False)
        for x_m, y_m, height_m in town.town_of(self.tour.world).trees_m:
            if math.dist((x_m, y_m), self._middle_m) < reach_m:
                crown_m = np.array((x_m, y_m)) + slope * 0.68 * height_m
                shadows.append(crown_m + 0.3 * height_m * np.column_stack([np.cos(turns), np.sin(turns)]))
        return shadows

    def _shadows_near(self, frame: int) -> Iterator[NDArray[np.float64]]:
        at_m = self.tour.poses[frame, :2]
        for ring_m in self._shadows:
            if math.dist(ring_m[0], at_m) < SHADOWS_M:
                yield ring_m

    def _movers(self, frame: int) -> Iterator[tuple[Solid, NDArray[np.float64], int]]:
        """The solid of each traveller near the camera, its shadow, and its number."""
        mount = self.tour.mount(frame)
        for number, (traveller, places) in enumerate(
            zip(self.tour.travellers, self.tour.places, strict=True)
        ):
            x_m, y_m, facing_deg = places[frame].tolist()
            if math.dist((x_m, y_m), mount.xy_m) > MOVERS_M:
                continue
            if traveller.look.kind == "vehicle":
                solid = vehicle_of(traveller).placed((x_m, y_m), facing_deg)
                yield solid, cast(solid, self._slope), number
                continue
            turn = math.radians(turn_deg(bearing_deg(mount.xy_m, (x_m, y_m)), facing_deg))
            length_m, width_m, _ = traveller.size_m
            solid = pedestrian(
                traveller.look,
                (x_m, y_m),
                mount,
                turn_rad=turn,
                walked_m=self.tour.times_s[frame] * WALKING_MPS,
                width_m=abs(math.sin(turn)) * length_m + abs(math.cos(turn)) * width_m,
            )
            yield solid, cast_by_walker((x_m, y_m), self._slope), number


@lru_cache(1024)
def _block(house: town.Building) -> Solid:
    """A house as it looks from far away."""
    ring = house.ring_m
    sheets = [
        Sheet(upright(start, end, (0.0, house.height_m)), darker(house.facade, 0.9))
        for start, end in zip(ring, (*ring[1:], ring[0]), strict=True)
    ]
    return Solid.of([*sheets, Sheet(flat(ring, house.height_m), town.ROOF)])


def vehicle_of(traveller: Traveller) -> Solid:
    """A traveller's vehicle, of its own size, facing north at the origin."""
    length_m, width_m, height_m = traveller.size_m
    shares = (width_m / VEHICLE.width_m, length_m / VEHICLE.length_m, height_m / VEHICLE.height_m)
    return vehicle(traveller.look).stretched(shares)
