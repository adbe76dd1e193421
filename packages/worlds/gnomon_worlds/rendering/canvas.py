"""Draws solids through a camera's lens into a picture with a depth for every pixel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from gnomon_worlds.camera_model import Mount
from gnomon_worlds.rendering.solid import NOTHING, Colour, Solid

FINER = 2  # drawn at this many times the size, then reduced, so that edges are smooth
NEAR_M = 0.3  # nothing nearer to the lens is drawn
TOUCHING = 2e-3  # two surfaces whose inverse depths differ by this share are taken to be the same

Floats = NDArray[np.float64]
Shade = Callable[[Floats, Floats], tuple[Floats, Colour]]
"""From normals (n × 3) and glows (n) of panels: by what light multiplies their colours (n), what it adds."""
Region = tuple[int, int, int, int]  # left, top, right, bottom, in fine pixels


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """The projection of a mount onto fine pixels of a picture of `size_px`, and its inverse."""

    mount: Mount
    size_px: tuple[int, int]
    matrix: Floats = field(init=False, repr=False)
    inverse: Floats = field(init=False, repr=False)
    centre_m: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        scale = np.array(
            [size * FINER / full for size, full in zip(self.size_px, self.mount.image_size, strict=True)]
        )
        matrix = self.mount.projection()
        matrix[:2] *= scale[:, None]
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "inverse", np.linalg.inv(matrix[:, :3]))
        object.__setattr__(self, "centre_m", np.array([*self.mount.xy_m, self.mount.height_m]))

    @property
    def fine_px(self) -> tuple[int, int]:
        """Width and height in fine pixels."""
        return (self.size_px[0] * FINER, self.size_px[1] * FINER)

    def project(self, points_m: Floats) -> Floats:
        """For each point: column times depth, row times depth, depth."""
        return points_m @ self.matrix[:, :3].T + self.matrix[:, 3]

    def nearness(self, normals: Floats, points_m: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Where the planes with such normals through such points (n × 3 each) are, and whether they are seen.

        A row (a, b, c) of the first (n × 3) says that a plane's inverse depth is a·column + b·row + c; the
        second (n) whether the camera is before its front.
        """
        offsets = ((points_m - self.centre_m) * normals).sum(axis=1)
        is_seen = offsets < -1e-9
        return normals @ self.inverse / np.where(is_seen, offsets, 1.0)[:, None], is_seen

    def ground(self) -> Floats | None:
        """(a, b, c) of the ground (z = 0); None for a camera below it."""
        planes, is_seen = self.nearness(np.array([[0.0, 0.0, 1.0]]), np.zeros((1, 3)))
        return planes[0] if is_seen[0] else None


def clipped(points: Floats) -> Floats:
    """The part of a projected polygon that is farther than NEAR_M (Sutherland and Hodgman)."""
    kept = []
    for here, after in zip(points, np.roll(points, -1, axis=0), strict=True):
        is_in, is_next_in = here[2] >= NEAR_M, after[2] >= NEAR_M
        if is_in:
            kept.append(here)
        if is_in != is_next_in:
            kept.append(here + (NEAR_M - here[2]) / (after[2] - here[2]) * (after - here))
    return np.array(kept).reshape(-1, 3)


class Canvas:
    """Fine pixels: `colour`, `nearness` (inverse depth, 0 where there is only sky), `owner`, `shadowed`."""

    def __init__(self, lens: Lens) -> None:
        width, height = lens.fine_px
        self.lens = lens
        self.colour = np.zeros((height, width, 4), np.uint8)  # the fourth is unused: whole words move fast
        self.nearness = np.zeros((height, width), np.float32)
        self.owner = np.zeros((height, width), np.uint8)
        self.shadowed = np.zeros((height, width), bool)

    def copy(self) -> "Canvas":
        """Another canvas with the same pixels."""
        twin = Canvas.__new__(Canvas)
        twin.lens = self.lens
        for name in ("colour", "nearness", "owner", "shadowed"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def may_show(self, xy_m: Sequence[float], around_m: float) -> bool:
        """Whether what is within `around_m` of a point on the ground may be in the picture."""
        u, _, depth_m = self.lens.project(np.array([[*xy_m, 0.0]]))[0]
        aside = around_m * abs(self.lens.matrix[0, :3]).max()
        return bool(depth_m > -around_m and -aside < u < depth_m * self.lens.fine_px[0] + aside)

    def draw(self, solid: Solid, shade: Shade, owner: int = 0) -> None:
        """Draw a solid where nothing nearer is.

        Of two of its panels in one place the later one is seen; so a solid is convex, or its panels come in
        the order in which they cover one another.
        """
        points = self.lens.project(solid.points_m)
        depths = points[:, 2]
        if not solid.panels or depths.max() < NEAR_M:
            return
        is_before = depths >= NEAR_M
        is_whole = bool(is_before.all())
        with np.errstate(divide="ignore", invalid="ignore"):
            pixels = points[:, :2] / depths[:, None] - 0.5  # Pillow counts from the middle of a pixel
        firsts = [panel.patches[0].first for panel in solid.panels]
        planes, is_seen = self.lens.nearness(solid.normals, solid.points_m[firsts])
        polygons: list[Floats] = []
        panels: list[int] = []  # of each polygon
        colours: list[Colour] = []
        for number in np.nonzero(is_seen)[0].tolist():
            for first, end, colour in solid.panels[number].patches:
                if colour is NOTHING:
                    continue
                if is_whole or is_before[first:end].all():
                    polygon = pixels[first:end]
                elif not is_before[first:end].any():
                    continue
                else:
                    cut = clipped(points[first:end])
                    polygon = cut[:, :2] / cut[:, 2:] - 0.5
                if len(polygon) >= 3:
                    polygons.append(polygon)
                    panels.append(number)
                    colours.append(colour)
        region = self._region(polygons) if polygons else None
        if region is None:
            return
        left, top, right, bottom = region
        numbers = _numbered(polygons, region)
        if panels[0] == panels[-1]:
            nearness = affine(planes[panels[0]], region)
        else:
            nearness = _piecewise(numbers, planes[panels], region)
        behind = self.nearness[top:bottom, left:right]
        wins = (numbers > 0) & (nearness > behind)
        bright, added = shade(solid.normals, np.array([panel.glow for panel in solid.panels]))
        palette = np.zeros((len(colours) + 1, 4), np.uint8)
        palette[1:, :3] = np.clip(bright[panels][:, None] * np.array(colours) + added, 0, 255)
        words = self.colour.view(np.uint32)[top:bottom, left:right, 0]
        np.copyto(words, palette.view(np.uint32)[:, 0][numbers], where=wins)
        np.copyto(behind, nearness, where=wins)
        np.copyto(self.owner[top:bottom, left:right], np.uint8(owner), where=wins)
        np.copyto(self.shadowed[top:bottom, left:right], False, where=wins)

    def shadow(self, rings_m: Sequence[Floats], strength: float) -> None:
        """Darken the ground (z = 0) within polygons of (x, y), where it is in sight and not darkened yet."""
        polygons = []
        for ring in rings_m:
            points = self.lens.project(np.column_stack([ring, np.zeros(len(ring))]))
            cut = points if (points[:, 2] >= NEAR_M).all() else clipped(points)
            if len(cut) >= 3:
                polygons.append(cut[:, :2] / cut[:, 2:] - 0.5)
        plane = self.lens.ground()
        region = self._region(polygons) if polygons else None
        if region is None or plane is None:
            return
        left, top, right, bottom = region
        dark = self.shadowed[top:bottom, left:right]
        wins = (_numbered(polygons, region) > 0) & ~dark
        ground = affine(plane, region)
        wins &= np.abs(self.nearness[top:bottom, left:right] - ground) <= TOUCHING * ground
        colours = self.colour[top:bottom, left:right]
        darker = (np.arange(256) * (1 - strength)).astype(np.uint8)
        colours[wins] = darker[colours[wins]]
        dark |= wins

    def _region(self, polygons: Sequence[Floats]) -> Region | None:
        width, height = self.lens.fine_px
        corners = np.concatenate(polygons)
        low, high = corners.min(axis=0), corners.max(axis=0)
        left, top = max(int(low[0]), 0), max(int(low[1]), 0)
        right, bottom = min(int(high[0]) + 2, width), min(int(high[1]) + 2, height)
        return (left, top, right, bottom) if left < right and top < bottom else None

    def picture(self) -> Image.Image:
        """The canvas at the picture's size."""
        image = Image.frombuffer("RGBX", self.lens.fine_px, self.colour, "raw", "RGBX", 0, 1)
        return image.reduce(FINER).convert("RGB")


def _numbered(polygons: Sequence[Floats], region: Region) -> NDArray[Any]:
    """For each pixel of the region, the number from 1 of the last polygon that covers it; else 0."""
    left, top, right, bottom = region
    image = Image.new("L" if len(polygons) < 256 else "I", (right - left, bottom - top))
    pen = ImageDraw.Draw(image)
    for number, polygon in enumerate(polygons, start=1):
        pen.polygon((polygon - (left, top)).ravel().tolist(), fill=number)
    return np.asarray(image)


def _piecewise(numbers: NDArray[Any], planes: Floats, region: Region) -> NDArray[np.float32]:
    """The inverse depth of each pixel's own plane."""
    left, top, right, bottom = region
    a, b, c = np.concatenate([np.zeros((1, 3)), planes]).astype(np.float32).T
    columns = np.arange(left, right, dtype=np.float32) + np.float32(0.5)
    rows = np.arange(top, bottom, dtype=np.float32)[:, None] + np.float32(0.5)
    nearness: NDArray[np.float32] = a[numbers] * columns + b[numbers] * rows + c[numbers]
    return nearness


def affine(plane: Floats, region: Region) -> NDArray[np.float32]:
    """The inverse depth of a plane at the middle of each pixel of the region."""
    left, top, right, bottom = region
    columns = (plane[0] * (np.arange(left, right) + 0.5)).astype(np.float32)
    rows = (plane[1] * (np.arange(top, bottom) + 0.5) + plane[2]).astype(np.float32)
    nearness: NDArray[np.float32] = rows[:, None] + columns[None, :]
    return nearness
