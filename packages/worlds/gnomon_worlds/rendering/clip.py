"""A clip of what a camera sees of a target: its frames, with the red box and the clock."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from gnomon.core.clock import clock
from gnomon.media.clips import draw_box
from gnomon_tools.geometry.angles import bearing_deg, turn_deg
from gnomon_tools.scene.scene import Point
from gnomon_worlds.hiding import standing
from gnomon_worlds.question import BOXES, BoundingBox, Question, box, frames_between, rounded_s
from gnomon_worlds.rendering.canvas import Canvas, Lens, Region, even, merged
from gnomon_worlds.rendering.figures import pedestrian, vehicle
from gnomon_worlds.rendering.light import Conditions, draw_rain
from gnomon_worlds.rendering.scenery import NOON_HOUR, Scenery, cast, cast_by_walker, scenery
from gnomon_worlds.rendering.solid import Solid
from gnomon_worlds.rendering.traffic import Mover, movers
from gnomon_worlds.trajectory import Sighting, Trip
from gnomon_worlds.world import World

SIZE_PX = (960, 540)
TARGET, OTHERS = 255, 3  # owners of pixels: the target, and all else that moves
FARTHEST_M = 100.0  # beyond, nothing that moves is drawn
HELD_MOST = 10  # frames for which a picture stays where the frame rate is lowest
TIMELESS = "CausalReordering"  # the task whose prompt withholds the time of day


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How clips are drawn: their size, how hard they are to read, and what is written over them."""

    size_px: tuple[int, int] = SIZE_PX
    conditions: Conditions = field(default_factory=Conditions)
    has_box: bool = True
    has_clock: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Clip:
    """One clip of a question. It has a picture for every frame that the published form counts.

    Frame k is at the moment at which a published box with that frame number is. Of a question that withholds
    the time of day, clocks count from the clip's own start, and the sun stands as at noon.
    """

    world: World
    trip: Trip
    sighting: Sighting
    trips: tuple[Trip, ...]  # of all targets of the question
    is_timeless: bool
    seed: int
    style: Style

    @cached_property
    def times_s(self) -> tuple[float, ...]:
        """The moment of each frame, in seconds after noon."""
        start_s, end_s = rounded_s(self.sighting.start_s, self.sighting.end_s)
        last = frames_between(start_s, end_s) * (BOXES - 1)
        return tuple(start_s + (end_s - start_s) * frame / last for frame in range(last + 1))

    @property
    def clock_times_s(self) -> tuple[float, ...]:
        """The same by the clock of the camera, which the pictures show."""
        ahead_s = self.world.clocks_s.get(self.sighting.camera, 0.0)
        return tuple(time_s + ahead_s for time_s in self.times_s) if ahead_s else self.times_s

    @property
    def box_frames(self) -> tuple[int, ...]:
        step = (len(self.times_s) - 1) // (BOXES - 1)
        return tuple(index * step for index in range(BOXES))

    @cached_property
    def movers(self) -> tuple[Mover, ...]:
        """All that move through it."""
        return movers(self.world, self.trips, self.sighting, seed=self.seed)

    @property
    def floor(self) -> int:
        return self.world.scene.cameras[self.sighting.camera].floor

    @cached_property
    def _scenery(self) -> Scenery:
        hour = NOON_HOUR if self.is_timeless else NOON_HOUR + round(self.sighting.start_s / 60) / 60
        indoors = self.world.scene.kind == "indoor"
        return scenery(
            self.world,
            self.sighting.camera,
            self.style.size_px,
            self.style.conditions,
            NOON_HOUR if indoors else hour,
        )

    def box(self, frame: int) -> BoundingBox:
        """The target's box in pixels of the picture."""
        mount = self._scenery.canvas.lens.mount
        across, down = (size / full for size, full in zip(self.style.size_px, mount.image_size, strict=True))
        x, y, width, height = box(mount, self.trip.journey, self.times_s[frame])
        return (x * across, y * down, width * across, height * down)

    def shown_frame(self, frame: int) -> int:
        """The frame whose picture is shown: at a low frame rate an earlier one; those with boxes stay."""
        held = 1 + round(self.style.conditions.low_frame_rate * (HELD_MOST - 1))
        step = (len(self.times_s) - 1) // (BOXES - 1)
        return frame - frame % step % held

    def pictures(self, frames: Sequence[int] | None = None) -> Iterator[Image.Image]:
        stage = Stage(self._scenery)
        for frame in range(len(self.times_s)) if frames is None else frames:
            shown = self.shown_frame(frame)
            image = stage.picture(self.movers, self.times_s[shown], self.floor, target=self.trip)
            self._finish(image, shown)
            yield image

    def _finish(self, image: Image.Image, frame: int) -> None:
        rain = self.style.conditions.rain if self.world.scene.kind == "outdoor" else 0.0
        if rain:
            draw_rain(image, self._scenery.canvas.lens, rain, frame)
        if self.style.has_box:
            draw_box(image, self.box(frame), width_px=max(2, round(3 * image.width / 1920)))
        if self.style.has_clock:
            time_s = self.clock_times_s[frame]
            text = f"+{time_s - self.clock_times_s[0]:06.3f} s" if self.is_timeless else clock(time_s)
            draw_clock(image, text)

    def canvas(self, frame: int, *, is_target_alone: bool = False) -> Canvas:
        """The fine pixels of a frame, with their owners; `is_target_alone`: in empty space."""
        stage = Stage(self._scenery)
        stage.draw(self.movers, self.times_s[frame], self.floor, target=self.trip)
        if is_target_alone:
            stage.canvas.nearness[:] = 0
            stage.canvas.owner[:] = 0
            own = [mover for mover in self.movers if mover.trip is self.trip]
            stage.draw(own, self.times_s[frame], self.floor, target=self.trip)
        return stage.canvas


def clips_of(question: Question, world: World, *, seed: int, style: Style) -> tuple[Clip, ...]:
    """The clips of a question in the order in which they are published."""
    trips = {id(trip): trip for trip, _ in question.clip_sightings}
    return tuple(
        Clip(
            world=world.filmed or world,
            trip=trip,
            sighting=sighting,
            trips=tuple(trips.values()),
            is_timeless=question.task_id == TIMELESS,
            seed=seed,
            style=style,
        )
        for trip, sighting in question.clip_sightings
    )


class Stage:
    """A scenery through which movers go; what they leave is taken from the scenery again."""

    def __init__(self, scenery: Scenery) -> None:
        self._scenery = scenery
        self.canvas = scenery.canvas.copy()
        self._changed: list[Region] = []

    def picture(self, all_movers: Sequence[Mover], time_s: float, floor: int, *, target: Trip) -> Image.Image:
        self.draw(all_movers, time_s, floor, target=target)
        image = self._scenery.picture.copy()
        for region in self._changed:
            left, top = (edge // 2 for edge in region[:2])
            image.paste(self.canvas.picture(region), (left, top))
        return image

    def draw(self, all_movers: Sequence[Mover], time_s: float, floor: int, *, target: Trip) -> None:
        """Draw the movers of a moment, first their shadows."""
        for region in self._changed:
            self.canvas.restore(self._scenery.canvas, region)
        regions: list[Region | None] = []
        light, mount = self._scenery.light, self.canvas.lens.mount
        slope = (-light.sun[0] / light.sun[2], -light.sun[1] / light.sun[2])
        solids = []
        for mover in all_movers:
            place = mover.at(time_s, floor)
            if place is None or math.dist(place[0], mount.xy_m) > FARTHEST_M:
                continue
            if not self.canvas.may_show(place[0], 12.0 if mover.look.kind == "vehicle" else 5.0):
                continue
            solid, foot = _solid(mover, *place, self.canvas.lens, time_s, at_night=light.night > 0)
            is_shadowed = self._is_shadowed(foot)
            shade = light.shade(foot, math.dist(foot, mount.xy_m), is_shadowed=is_shadowed)
            solids.append((solid, shade, TARGET if mover.trip is target else OTHERS))
            if light.shadow > 0:
                regions.append(self.canvas.shadow([_shadow(mover, solid, foot, slope)], light.shadow))
        regions += [self.canvas.draw(solid, shade, owner) for solid, shade, owner in solids]
        self._changed = merged([even(region) for region in regions if region is not None])

    def _is_shadowed(self, foot: Point) -> bool:
        column, row, depth = self.canvas.lens.project(np.array([[*foot, 0.0]]))[0]
        width, height = self.canvas.lens.fine_px
        if depth <= 0 or not (0 <= column / depth < width and 0 <= row / depth < height):
            return False
        return bool(self._scenery.canvas.shadowed[int(row / depth), int(column / depth)])


def _solid(
    mover: Mover, at: Point, heading_deg: float, lens: Lens, time_s: float, *, at_night: bool
) -> tuple[Solid, Point]:
    """The solid of a mover, and the middle of it on the ground."""
    mount = lens.mount
    if mover.look.kind == "vehicle":
        body = mover.journey.body
        middle = standing(mount, body, at, heading_deg)
        return vehicle(mover.look, body, at_night=at_night).placed(middle, heading_deg), middle
    turn = math.radians(turn_deg(bearing_deg(mount.xy_m, at), heading_deg))
    body = mover.journey.body
    width_m = abs(math.sin(turn)) * body.length_m + abs(math.cos(turn)) * body.width_m
    walked_m = (time_s - mover.journey.start_s) * 1.3
    return pedestrian(mover.look, at, mount, turn_rad=turn, walked_m=walked_m, width_m=width_m), at


def _shadow(mover: Mover, solid: Solid, foot: Point, slope: tuple[float, float]) -> NDArray[np.float64]:
    if mover.look.kind == "vehicle":
        return cast(solid, slope)
    return cast_by_walker(foot, slope)


@lru_cache(4)
def _font(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size_px)


def draw_clock(image: Image.Image, text: str) -> None:
    """Write a time in white on a black panel at the middle of the upper edge."""
    font = _font(max(10, round(image.width / 48)))
    pen = ImageDraw.Draw(image)
    left, _, right, bottom = pen.textbbox((0, 0), text, font=font)
    x = (image.width - (right - left)) // 2
    pen.rectangle((x - 6, 0, x + right - left + 6, bottom + 6), fill=(0, 0, 0))
    pen.text((x - left, 4), text, fill=(255, 255, 255), font=font)
