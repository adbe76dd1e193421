"""Reads the metres per pixel off the two bars at the picture's lower left.

One grey line carries both: the metres above it end at a tick, the feet below at another. Lengths are whole
pixels, values are 1, 2, 3 or 5 times a power of ten. The metres are read as text; the feet must then come
out as such a value, or the reading is refused.
"""

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from PIL import Image

GREY, GREY_SLACK = 119, 3
CORNER_PX = (120, 200)  # rows, columns of the lower left that are searched
SHORTEST_PX, TICK_PX = 30, 8
TEXT_VALUES_M = (30, 50)  # rows of scale_text.png
TEXT_HEIGHT_PX, TEXT_WIDTH_PX = 10, 24
TEXT_FOUND = 0.12  # worst mean difference of a text that counts as read
FOOT_M = 0.3048
BAR_ERROR_PX = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Metres per pixel, and its largest relative error that both bars allow."""

    metres_per_pixel: float
    error: float


def read_scale(picture: Image.Image) -> Scale | None:
    """The scale; None if no bar is found, its text is unknown, or feet and metres contradict.

    >>> read_scale(Image.new("RGB", (300, 200), "white")) is None
    True
    """
    pixels = np.asarray(picture.convert("RGB"))
    corner = pixels[-CORNER_PX[0] :, : CORNER_PX[1]].astype(np.int16)
    grey: NDArray[np.bool_] = np.all(abs(corner - GREY) <= GREY_SLACK, axis=2)
    for line in range(TICK_PX, len(grey) - TICK_PX - 1):
        columns = np.flatnonzero(grey[line] & grey[line + 1])
        if len(columns) < SHORTEST_PX:
            continue
        left = int(columns[0])
        metres_px = _ending(grey[line - TICK_PX : line], left)
        feet_px = _ending(grey[line + 2 : line + 2 + TICK_PX], left)
        value_m = _text_m(corner.mean(axis=2), line, left)
        return scale_of(value_m, metres_px, feet_px) if value_m is not None else None
    return None


def scale_of(value_m: float, metres_px: int, feet_px: int) -> Scale | None:
    """The middle of the scales at which both bars round to these pixels; None if no scale does.

    >>> scale = scale_of(30, 68, 69)
    >>> scale and (round(scale.metres_per_pixel, 4), round(scale.error, 4))
    (0.4415, 0.0067)
    >>> scale_of(50, 68, 69) is None, scale_of(30, 68, 0) is None
    (True, True)
    """
    if min(metres_px, feet_px) < SHORTEST_PX:
        return None
    low, high = value_m / (metres_px + BAR_ERROR_PX), value_m / (metres_px - BAR_ERROR_PX)
    feet = value_m / metres_px * feet_px / FOOT_M
    power = 10.0 ** math.floor(math.log10(feet))
    round_m = min(
        (value * power * FOOT_M for value in (1, 2, 3, 5, 10)), key=lambda m: abs(m / FOOT_M - feet)
    )
    low, high = max(low, round_m / (feet_px + BAR_ERROR_PX)), min(high, round_m / (feet_px - BAR_ERROR_PX))
    if low > high:
        return None
    return Scale(metres_per_pixel=(low + high) / 2, error=(high - low) / (high + low))


def _ending(ticks: NDArray[np.bool_], left: int) -> int:
    """The bar's length, from its left tick to the end of its last one; 0 if it has none."""
    tick_columns = np.flatnonzero(ticks.all(axis=0))
    return int(tick_columns[-1]) + 1 - left if len(tick_columns) > 2 and tick_columns[0] == left else 0


def _text_m(grey: NDArray[np.float64], line: int, left: int) -> int | None:
    """The value printed above the line; None if it is unknown."""
    top = line - TEXT_HEIGHT_PX - 2
    differences = {
        float(abs(patch - text).mean()): value_m
        for value_m, text in zip(TEXT_VALUES_M, _texts(), strict=True)
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if (patch := 1 - _cut(grey, top + down, left + 5 + right) / 255).shape == text.shape
    }
    best = min(differences, default=1.0)
    return differences[best] if best <= TEXT_FOUND else None


def _cut(grey: NDArray[np.float64], top: int, left: int) -> NDArray[np.float64]:
    return grey[max(top, 0) : max(top, 0) + TEXT_HEIGHT_PX, left : left + TEXT_WIDTH_PX]


@cache
def _texts() -> NDArray[np.float64]:
    """How black each known text is, 0 to 1, shape (text, height, width)."""
    sheet_file = files(__package__).joinpath("scale_text.png")
    with sheet_file.open("rb") as file:
        sheet = np.asarray(Image.open(file), dtype=np.float64) / 255
    return sheet.reshape(len(TEXT_VALUES_M), TEXT_HEIGHT_PX, TEXT_WIDTH_PX)
