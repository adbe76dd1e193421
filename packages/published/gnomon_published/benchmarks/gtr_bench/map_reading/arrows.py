"""Finds masts (black discs) and the red arrows that start at them.

A camera is drawn as a disc of 5.8 px radius and an arrow from its centre, 60 px long and 4 px wide, whose
head begins at 46.5 px, 16 px wide. The arrow alone fixes the mast: across by its shaft, along by its head. So
masts that overlap stay apart as long as their arrows do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

from gnomon_tools.geometry.angles import turn_deg

Grid = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ink:
    """Arrays of the picture's shape (rows, columns).

    `red` is how much of a pixel pure red covers, 0 to 1: (R - max(G, B)) / 255 gives that on any grey ground.
    `black` is true where the pixel is nearly black, `solid` where it is black or pure red.
    """

    red: Grid
    black: NDArray[np.bool_]
    solid: NDArray[np.bool_]


def ink_of(picture: Image.Image) -> Ink:
    """The ink of a picture.

    >>> ink = ink_of(Image.new("RGB", (2, 1), (255, 127, 127)))
    >>> float(ink.red[0, 0].round(2)), bool(ink.solid.any())
    (0.5, False)
    """
    pixels = np.asarray(picture.convert("RGB"))
    red, cold = pixels[..., 0], np.maximum(pixels[..., 1], pixels[..., 2])
    covered: Grid = np.where(red > cold, red - cold, 0).astype(np.float32) / np.float32(255)
    return Ink(red=covered, black=np.maximum(red, cold) < 64, solid=cold < 100)


Floats = NDArray[np.float64]  # shape as each docstring says

LENGTH_PX = 60.0
HEAD_START_PX = 46.5
HALF_WIDTH_PX = 2.0
HEAD_HALF_WIDTH_PX, HEAD_SLOPE = 8.0, 0.625

SHAFT_FOUND = 0.9  # share of a shaft that must be red to be looked at more closely
ARROW_FOUND = 0.5  # worst fit of an arrow that is kept
SAME_PX, SAME_DEG = 2.0, 4.0  # nearer than both is the same arrow
SEED_PX, SEED_DEG = 3.0, 8.0
COARSE_DEG = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """One arrow: its mast in pixels (right, down), compass direction, and how well it fits, at most 1."""

    mast_px: tuple[float, float]
    heading_deg: float
    fit: float


def find_arrows(ink: Ink) -> list[Arrow]:
    """Every arrow of the picture, best first; where arrows hide one another, also a few false ones."""
    covered = np.where(ink.black, np.float32(0.5), ink.red)  # what another mast covers is unknown
    refined = sorted(
        (_refined(covered, *seed) for seed in _seeds(ink)), key=lambda arrow: arrow.fit, reverse=True
    )
    kept: list[Arrow] = []
    for arrow in refined:
        if arrow.fit >= ARROW_FOUND and not any(_same(arrow, better) for better in kept):
            kept.append(arrow)
    return kept


def towards(heading_deg: float | Floats) -> tuple[Floats, Floats]:
    """Unit step in pixels (right, down) along a compass direction: north is up."""
    angle = np.radians(heading_deg)
    return np.sin(angle), -np.cos(angle)


def _same(first: Arrow, second: Arrow) -> bool:
    apart_px = np.hypot(first.mast_px[0] - second.mast_px[0], first.mast_px[1] - second.mast_px[1])
    return bool(apart_px < SAME_PX and abs(turn_deg(first.heading_deg, second.heading_deg)) < SAME_DEG)


def _masts(ink: Ink) -> Floats:
    """Pixels (right, down) around which all is black or red and much is black; shape (n, 2)."""
    from scipy.ndimage import minimum_filter  # late: a map is read once, then its reading

    drawn = ~(ink.black.mean(axis=1) > 0.9)[:, None]  # some pictures end in black rows
    rows, columns = np.nonzero(minimum_filter(ink.solid & drawn, size=7))
    around = sliding_window_view(np.pad(ink.black & drawn, 6), (13, 13))[rows, columns]
    some = around.sum(axis=(1, 2)) > 24  # of a disc's 100
    return np.column_stack((columns[some], rows[some])).astype(float)


def _seeds(ink: Ink) -> Iterator[tuple[float, float, float]]:
    """Mast pixels and directions that have a red shaft, the reddest first, neighbours left out."""
    masts = _masts(ink)
    along = np.arange(9.0, 58.0)
    right, down = towards(np.arange(0.0, 360.0, COARSE_DEG))
    x = masts[:, 0, None, None] + right[:, None] * along
    y = masts[:, 1, None, None] + down[:, None] * along
    drawn = np.maximum(ink.red, ink.black)
    # A shaft has 45 of 49 pixels drawn, and so three of every seventh at least.
    index, turn = np.nonzero((_sample(drawn, x[..., ::7], y[..., ::7]) > 0.7).sum(axis=2) > 2)
    share = (_sample(drawn, x[index, turn], y[index, turn]) > 0.7).mean(axis=1)
    is_shaft = share >= SHAFT_FOUND
    index, turn, share = index[is_shaft], turn[is_shaft], share[is_shaft]
    kept: list[tuple[float, float, float]] = []
    for at in np.argsort(-share, kind="stable"):
        (x_px, y_px), heading_deg = masts[index[at]], float(turn[at] * COARSE_DEG)
        near = (
            max(abs(x_px - old[0]), abs(y_px - old[1])) < SEED_PX
            and abs(turn_deg(heading_deg, old[2])) < SEED_DEG
            for old in kept
        )
        if not any(near):
            kept.append((float(x_px), float(y_px), heading_deg))
            yield kept[-1]


def _refined(red: Grid, x_px: float, y_px: float, heading_deg: float) -> Arrow:
    """The best arrow near a seed, by grids of shrinking step down to a quarter pixel and degree."""
    fit = 0.0
    for step_px, step_deg, reach in ((1.0, 1.5, 2), (0.5, 0.75, 1), (0.25, 0.25, 1)):
        grid = np.arange(-reach, reach + 1, dtype=np.float64)
        right, down, turn = (axis.ravel() for axis in np.meshgrid(grid, grid, grid, indexing="ij"))
        fits = _fit(red, x_px + right * step_px, y_px + down * step_px, heading_deg + turn * step_deg)
        best = int(fits.argmax())
        x_px, y_px = x_px + right[best] * step_px, y_px + down[best] * step_px
        heading_deg, fit = heading_deg + turn[best] * step_deg, float(fits[best])
    return Arrow(mast_px=(float(x_px), float(y_px)), heading_deg=float(heading_deg % 360), fit=fit)


def _fit(red: Grid, x_px: Floats, y_px: Floats, heading_deg: Floats) -> Floats:
    """Mean red inside the arrow's outline less half the mean red beside it, for each pose."""
    along, across, weight = _outline()
    right, down = (step[:, None] for step in towards(heading_deg))
    x = x_px[:, None] + along * right - across * down
    y = y_px[:, None] + along * down + across * right
    fits: Floats = _sample(red, x, y) @ weight
    return fits


@cache
def _outline() -> tuple[Floats, Floats, Floats]:
    """Points along and across an arrow with their weights; the disc itself is left out."""
    along, across = (axis.ravel() for axis in np.meshgrid(np.arange(7.0, 64.0), np.arange(-10.75, 11, 0.5)))
    head = HEAD_HALF_WIDTH_PX - HEAD_SLOPE * (along - HEAD_START_PX)
    half = np.where(along < HEAD_START_PX, HALF_WIDTH_PX, np.maximum(HALF_WIDTH_PX, head))
    half = np.where(along > LENGTH_PX, 0.0, half)
    inside = (abs(across) < half) & (half > 0)
    beside = (abs(across) > half) & (abs(across) < half + 3)
    weight = inside / inside.sum() - 0.5 * beside / beside.sum()
    some = weight != 0
    return along[some], across[some], weight[some]


def _sample(image: Grid, x: Floats, y: Floats) -> Floats:
    from scipy.ndimage import map_coordinates

    values: Floats = map_coordinates(image, (y, x), order=1, output=np.float64)
    return values
