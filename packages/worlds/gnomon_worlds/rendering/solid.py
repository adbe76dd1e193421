"""Solids: flat panels in space with patches painted on them. Pictures are made of these alone."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Colour = tuple[float, float, float]  # red, green, blue, 0 to 255
NOTHING: Colour = (-1.0, -1.0, -1.0)
"""The colour of a panel of which only the patches are seen."""
Corners = Sequence[tuple[float, float, float]]  # metres: east, north, up


class Patch(NamedTuple):
    """A polygon: which of its solid's points are its corners, in order, and its colour."""

    first: int
    end: int
    colour: Colour


class Panel(NamedTuple):
    """A flat polygon with patches on it, the polygon itself first.

    `glow` is the share of its colour that it shows without any light.
    """

    patches: tuple[Patch, ...]
    glow: float


class Sheet(NamedTuple):
    """A panel before it is part of a solid: corners and colour, then the patches, each likewise."""

    corners: Corners
    colour: Colour
    patches: Sequence[tuple[Corners, Colour]] = ()
    glow: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solid:
    """Panels with all their corners in one array of (x, y, z) in metres (n × 3).

    A panel is seen only from where its row of `normals` (unit vectors, a panel each) points.
    """

    points_m: NDArray[np.float64]
    normals: NDArray[np.float64]
    panels: tuple[Panel, ...]

    @classmethod
    def of(cls, sheets: Iterable[Sheet]) -> "Solid":
        """Make a solid of sheets; corners go round anticlockwise as seen from the visible side."""
        points: list[tuple[float, float, float]] = []
        normals: list[tuple[float, float, float]] = []
        panels: list[Panel] = []
        for sheet in sheets:
            patches = []
            for corners, colour in ((sheet.corners, sheet.colour), *sheet.patches):
                first = len(points)
                points.extend(corners)
                patches.append(Patch(first, len(points), colour))
            normals.append(normal_of(sheet.corners))
            panels.append(Panel(tuple(patches), sheet.glow))
        return cls(
            points_m=np.array(points, dtype=np.float64).reshape(-1, 3),
            normals=np.array(normals, dtype=np.float64).reshape(-1, 3),
            panels=tuple(panels),
        )

    def placed(self, xy_m: tuple[float, float], heading_deg: float) -> "Solid":
        """The solid, modelled facing north at the origin, at a place and facing that way."""
        turn = math.radians(heading_deg)
        sine, cosine = math.sin(turn), math.cos(turn)
        turned = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]]).T
        return replace(self, points_m=self.points_m @ turned + (*xy_m, 0.0), normals=self.normals @ turned)

    def stretched(self, shares: tuple[float, float, float]) -> "Solid":
        """The solid with its extents along x, y and z multiplied."""
        normals = self.normals / shares
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return replace(self, points_m=self.points_m * shares, normals=normals)


def normal_of(corners: Corners) -> tuple[float, float, float]:
    """The unit normal of a flat polygon (Newell's method)."""
    x = y = z = 0.0
    for (x0, y0, z0), (x1, y1, z1) in zip(corners, (*corners[1:], corners[0]), strict=True):
        x += (y0 - y1) * (z0 + z1)
        y += (z0 - z1) * (x0 + x1)
        z += (x0 - x1) * (y0 + y1)
    length = math.sqrt(x * x + y * y + z * z) or 1.0
    return (x / length, y / length, z / length)


def darker(colour: Colour, share: float) -> Colour:
    """A colour with that share of its light."""
    return (colour[0] * share, colour[1] * share, colour[2] * share)


def upright(
    start_m: tuple[float, float], end_m: tuple[float, float], z_m: tuple[float, float]
) -> list[tuple[float, float, float]]:
    """An upright rectangle; seen from its right as one goes from start to end."""
    (x0, y0), (x1, y1), (low, high) = start_m, end_m, z_m
    return [(x0, y0, low), (x1, y1, low), (x1, y1, high), (x0, y0, high)]


def flat(ring_m: Iterable[tuple[float, float]], z_m: float) -> list[tuple[float, float, float]]:
    """A level polygon; seen from above if its ring goes round anticlockwise."""
    return [(x, y, z_m) for x, y in ring_m]


def along(start_m: tuple[float, float], end_m: tuple[float, float], at_m: float) -> tuple[float, float]:
    """The point so far from start towards end."""
    length_m = math.dist(start_m, end_m) or 1.0
    share = at_m / length_m
    return (start_m[0] + share * (end_m[0] - start_m[0]), start_m[1] + share * (end_m[1] - start_m[1]))
