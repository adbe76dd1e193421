"""Light and air of a picture: sun by latitude and clock, shade, haze, lamps at night, rain."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from gnomon.core.errors import SpecError
from gnomon_worlds.rendering.canvas import FINER, TOUCHING, Canvas, Floats, Lens, Shade, affine
from gnomon_worlds.rendering.solid import Colour

Degree = float | str
DEGREES: Mapping[str, float] = {"none": 0.0, "some": 0.5, "much": 1.0}
DECLINATION_DEG = 15.0  # of the sun, in the first days of May
LOWEST_SUN_DEG = 18.0
LAMP_RADIUS_M = 7.0
LIT = 2  # owner of pixels that are bright by themselves; 1 is all else that stands still
DARK = 0.12  # share of the daylight that is left at night, away from lamps
NIGHT_TINT = (0.06, 0.04, -0.06)  # less red, less green, more blue
STRIP = 32  # rows that are worked on at a time, so that they stay in a processor's cache
STREAKS = 900  # of rain, in a picture of 960 x 540 pixels, where it rains most


@dataclass(frozen=True, slots=True)
class Conditions:
    """How hard the pictures are to read: each from 0, not at all, to 1."""

    night: float = 0.0
    rain: float = 0.0
    low_frame_rate: float = 0.0

    def __post_init__(self) -> None:
        for name in ("night", "rain", "low_frame_rate"):
            if not 0 <= getattr(self, name) <= 1:  # nor what is no number
                raise SpecError(f"from 0 to 1, got {getattr(self, name)!r}", field=name)

    @classmethod
    def of(cls, **degrees: Degree) -> "Conditions":
        """Conditions by numbers or by the words of DEGREES.

        >>> Conditions.of(night="some", rain=0.2)
        Conditions(night=0.5, rain=0.2, low_frame_rate=0.0)

        Raises:
            SpecError: a word is none of them, or a number is out of bounds.
        """
        return cls(**{name: _number(name, degree) for name, degree in degrees.items()})


def _number(name: str, degree: Degree) -> float:
    if degree in DEGREES:
        return DEGREES[str(degree)]
    try:
        return float(degree)
    except ValueError:
        words = ", ".join(DEGREES)
        raise SpecError(f"a number from 0 to 1 or one of {words}, got {degree!r}", field=name) from None


def sun_at(lat_deg: float, hour: float) -> tuple[float, float, float]:
    """Unit vector towards the sun (east, north, up) at an hour of solar time; never below LOWEST_SUN_DEG.

    Altitude and azimuth from declination and hour angle: Meeus, Astronomical Algorithms, chapter 13.
    """
    turn, lat, declination = (
        math.radians(15 * (hour - 12)),
        math.radians(lat_deg),
        math.radians(DECLINATION_DEG),
    )
    east = -math.cos(declination) * math.sin(turn)
    north = math.sin(declination) * math.cos(lat) - math.cos(declination) * math.cos(turn) * math.sin(lat)
    up = math.sin(declination) * math.sin(lat) + math.cos(declination) * math.cos(turn) * math.cos(lat)
    up = max(up, math.sin(math.radians(LOWEST_SUN_DEG)))
    length = math.sqrt(east * east + north * north + up * up)
    return (east / length, north / length, up / length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """What falls on a place: from the sun or the ceiling's lamps, through the air in between."""

    sun: tuple[float, float, float]
    ambient: float
    direct: float
    haze: Colour
    haze_m: float  # distance over which the haze takes two thirds of a colour
    shadow: float  # share of the light that is gone where the sun does not reach
    zenith: Colour = (112, 158, 214)
    night: float = 0.0
    lamps_m: Floats = field(default_factory=lambda: np.empty((0, 2)), repr=False)

    @classmethod
    def outdoors(cls, *, lat_deg: float, hour: float, conditions: Conditions, lamps_m: Floats) -> "Light":
        """Daylight of that hour; clouds take light away as rain grows."""
        rain = conditions.rain
        clear = np.array([(206, 220, 234), (112, 158, 214)], dtype=float)
        cloudy = np.array([(172, 178, 184), (138, 146, 156)], dtype=float)
        haze, zenith = (1 - rain) * clear + rain * cloudy
        return cls(
            sun=sun_at(lat_deg, hour),
            ambient=0.62 + 0.10 * rain,
            direct=0.46 * (1 - 0.85 * rain),
            haze=tuple(haze),
            zenith=tuple(zenith),
            haze_m=700 * (1 - rain) + 140 * rain,
            shadow=0.42 * (1 - 0.9 * rain) * (1 - conditions.night),
            night=conditions.night,
            lamps_m=lamps_m,
        )

    @classmethod
    def indoors(cls, *, conditions: Conditions, lamps_m: Floats) -> "Light":
        """The light of a ceiling; few of its lamps are on at night, and it does not rain."""
        return cls(
            sun=(0.28, 0.41, 0.868),
            ambient=0.66,
            direct=0.36,
            haze=(150, 150, 152),
            haze_m=90.0,
            shadow=0.30,
            night=conditions.night,
            lamps_m=lamps_m[::3],
        )

    def level(self, xy_m: Floats) -> Floats:
        """The share of daylight at points (..., 2): 1 by day, at night what lamps give."""
        if not self.night:
            return np.ones(xy_m.shape[:-1])
        lit = np.zeros(xy_m.shape[:-1])
        for lamp in self.lamps_m:
            square = ((xy_m - lamp) ** 2).sum(axis=-1)
            lit = np.maximum(lit, np.exp(-square / (2 * LAMP_RADIUS_M**2)))
        return 1 - self.night * (1 - (DARK + (0.62 - DARK) * lit))

    def shade(self, xy_m: tuple[float, float], away_m: float, *, is_shadowed: bool = False) -> Shade:
        """The colours of what stands at a point, seen from so far away."""
        level = float(self.level(np.array(xy_m)))
        clear = math.exp(-away_m / self.haze_m)
        direct = self.direct * (0.25 if is_shadowed else 1.0)
        faded = [(1 - clear) * part * level for part in self.haze]

        def lit(normals: Floats, glows: Floats) -> tuple[Floats, Colour]:
            bright = (self.ambient + direct * self._facing(normals)) * level + glows * (1 - level)
            return clear * bright, (faded[0], faded[1], faded[2])

        return lit

    def still(self, normals: Floats, glows: Floats) -> tuple[Floats, Colour]:  # noqa: ARG002 (a shade)
        """The colour of what stands still, in bright clear air; `settle` does the rest."""
        return self.ambient + self.direct * self._facing(normals), (0.0, 0.0, 0.0)

    def _facing(self, normals: Floats) -> Floats:
        """How far panels face the sun, from 0 to 1."""
        across: Floats = np.maximum(normals @ np.array(self.sun), 0.0)
        return across

    def settle(self, canvas: Canvas) -> None:
        """Give what stands still its grain, the sky its colours, and both the night and the haze."""
        height, width = canvas.nearness.shape
        plane = canvas.lens.ground()
        if plane is None:
            raise ValueError("a camera hangs above the ground")
        night = self._at_night(canvas) if self.night else None
        sky_share = np.float32(1 - self.night * (1 - DARK / 3))
        upwards = np.clip(np.linspace(1.0, -1.2, height, dtype=np.float32), 0, 1)
        for top in range(0, height, STRIP):
            rows = slice(top, min(top + STRIP, height))
            nearness = canvas.nearness[rows]
            points_m, away_m = _ground_points(canvas.lens, nearness, top)
            ground = affine(plane, (0, top, width, rows.stop))
            is_ground = np.abs(nearness - ground) <= TOUCHING * nearness
            grain = np.ones_like(nearness)
            grain[is_ground] = _grain(points_m[is_ground])
            clear = np.exp(-away_m / np.float32(self.haze_m))
            is_sky = nearness == 0
            is_dark = canvas.owner[rows] != LIT
            for band in range(3):
                haze, tint = np.float32(self.haze[band]), np.float32(1 - self.night * NIGHT_TINT[band])
                colour = canvas.colour[rows, :, band].astype(np.float32)
                colour *= grain
                colour -= haze
                colour *= clear
                colour += haze
                sky = upwards[rows, None] * np.float32(self.zenith[band]) + (1 - upwards[rows, None]) * haze
                np.copyto(colour, sky, where=is_sky)
                if night is not None:
                    np.multiply(colour, np.where(is_sky, sky_share, night[rows]), out=colour, where=is_dark)
                    np.multiply(colour, tint, out=colour, where=is_dark)
                canvas.colour[rows, :, band] = np.clip(colour, 0, 255, out=colour)

    def _at_night(self, canvas: Canvas) -> NDArray[np.float32]:
        """The share of daylight at each pixel, computed for few and smoothed between them."""
        height, width = canvas.nearness.shape
        points_m, _ = _ground_points(canvas.lens, canvas.nearness[:: 2 * FINER, :: 2 * FINER], 0, 2 * FINER)
        level = self.level(points_m.astype(np.float64)).astype(np.float32)
        return np.asarray(Image.fromarray(level).resize((width, height), Image.Resampling.BILINEAR))


def _ground_points(
    lens: Lens, nearness: NDArray[np.float32], top: int, step: int = 1
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The (x, y) and the distance that pixels show, from a row on and for every so many pixels.

    In the sky as on a far plane.
    """
    height, width = nearness.shape
    depth: NDArray[np.float32] = np.reciprocal(np.maximum(nearness, np.float32(1e-3)))
    columns = np.arange(0, step * width, step, dtype=np.float32)[None] + 0.5
    rows = np.arange(top, top + step * height, step, dtype=np.float32)[:, None] + 0.5
    points = np.empty((height, width, 2), np.float32)
    for axis in range(2):
        a, b, c = lens.inverse[axis]
        points[..., axis] = depth * (np.float32(a) * columns + np.float32(b) * rows + np.float32(c))
        points[..., axis] += np.float32(lens.centre_m[axis])
    return points, depth


def _grain(points_m: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unevenness of surfaces by position, fine and coarse."""
    tile = _tile()
    grain = np.ones(len(points_m), np.float32)
    for per_m, strength in ((17.0, 0.035), (4.1, 0.02)):
        index = (points_m * np.float32(per_m)).astype(np.int32) & 127
        grain += np.float32(strength) * tile[index[:, 0], index[:, 1]]
    return grain


@cache
def _tile() -> NDArray[np.float32]:
    return np.random.default_rng(7).uniform(-1, 1, (128, 128)).astype(np.float32)


def draw_rain(image: Image.Image, lens: Lens, rain: float, frame: int) -> None:
    """Draw streaks of rain across a picture, in other places in every frame."""
    count = round(STREAKS * rain)
    width, height = image.size
    rng = np.random.default_rng((round(lens.mount.heading_deg * 10), frame))
    starts = rng.uniform(0, 1, (count, 2)) * (width + 40, height + 60) - (20, 60)
    lengths = rng.uniform(10, 34, count) * height / 540
    pen = ImageDraw.Draw(image, "RGBA")
    alpha = 46 + round(34 * rain)
    for (x, y), length in zip(starts.tolist(), lengths.tolist(), strict=True):
        pen.line((x, y, x - 0.16 * length, y + length), fill=(206, 212, 220, alpha))
