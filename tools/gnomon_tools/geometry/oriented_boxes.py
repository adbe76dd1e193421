"""Distances between boxes in space, exact whatever way the boxes are turned; gaps seen from above."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from gnomon_tools.scene.boxes import Box

Floats = NDArray[np.float64]
SIGNS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
EDGES = np.array([(a, b) for a in range(8) for b in range(a, 8) if np.abs(SIGNS[a] - SIGNS[b]).sum() == 2])
UPRIGHT_DEG = 5.0  # a box leans where no axis is as near to the vertical as that
CHUNK = 1_000  # pairs that are worked out at a time: 20 MB an array
PARALLEL = 1e-12  # squared sine below which two directions are one


@dataclass(frozen=True, slots=True)
class BoxArray:
    """n boxes as arrays: centres n × 3 and half edges n × 3 in metres, axes n × 3 × 3 (a row an axis)."""

    centres_m: Floats
    halves_m: Floats
    axes: Floats

    @classmethod
    def of(cls, boxes: Sequence[Box]) -> "BoxArray":
        """The arrays of a list of boxes."""
        return cls(
            np.array([box.centre_m for box in boxes], dtype=np.float64).reshape(-1, 3),
            np.array([box.lengths_m for box in boxes], dtype=np.float64).reshape(-1, 3) / 2,
            np.array([box.axes for box in boxes], dtype=np.float64).reshape(-1, 3, 3),
        )

    def take(self, indices: NDArray[np.int64]) -> "BoxArray":
        """Those at these places."""
        return BoxArray(self.centres_m[indices], self.halves_m[indices], self.axes[indices])

    def corners_m(self) -> Floats:
        """The corners, n × 8 × 3."""
        spans = SIGNS[None] * self.halves_m[:, None]
        corners_m: Floats = self.centres_m[:, None] + np.einsum("nci,nij->ncj", spans, self.axes)
        return corners_m


def box_distance_m(first: Box, second: Box) -> float:
    """The least distance of two boxes in metres; 0 where they touch or overlap.

    >>> bed = Box(name="bed", kind="bed", centre_m=(0, 0, 0), lengths_m=(2, 2, 2))
    >>> box_distance_m(bed, Box(name="door", kind="door", centre_m=(5, 0, 0), lengths_m=(2, 2, 2)))
    3.0
    >>> box_distance_m(bed, bed)
    0.0
    """
    return float(distances_m(BoxArray.of([first]), BoxArray.of([second]))[0])


def distances_m(first: BoxArray, second: BoxArray) -> Floats:
    """The least distance of each of n pairs in metres.

    It is 0 where no separating axis exists, else the least of corners to the other box and edges to edges.
    """
    count = len(first.centres_m)
    parts = [
        _distances(first.take(part), second.take(part))
        for part in np.array_split(np.arange(count), max(1, -(-count // CHUNK)))
    ]
    return np.concatenate(parts)


def _distances(first: BoxArray, second: BoxArray) -> Floats:
    least = np.minimum.reduce(
        [
            _corners_to_boxes(first.corners_m(), second),
            _corners_to_boxes(second.corners_m(), first),
            _edges_to_edges(first.corners_m(), second.corners_m()),
        ]
    )
    return np.where(_separated(first, second), least, 0.0)


def _separated(first: BoxArray, second: BoxArray) -> NDArray[np.bool_]:
    """Whether one of 15 axes parts a pair: the normals of faces, and what is normal to an edge of each."""
    crosses = np.cross(first.axes[:, :, None], second.axes[:, None]).reshape(-1, 9, 3)
    axes = np.concatenate((first.axes, second.axes, crosses), axis=1)
    apart = np.abs(np.einsum("nkj,nj->nk", axes, second.centres_m - first.centres_m))
    reach = sum(
        np.einsum("nki,ni->nk", np.abs(np.einsum("nkj,nij->nki", axes, box.axes)), box.halves_m)
        for box in (first, second)
    )
    is_axis = np.einsum("nkj,nkj->nk", axes, axes) > PARALLEL
    parted: NDArray[np.bool_] = ((apart > reach) & is_axis).any(axis=1)
    return parted


def _corners_to_boxes(corners_m: Floats, boxes: BoxArray) -> Floats:
    local = np.einsum("ncj,nij->nci", corners_m - boxes.centres_m[:, None], boxes.axes)
    beyond = np.maximum(np.abs(local) - boxes.halves_m[:, None], 0.0)
    least: Floats = np.sqrt((beyond**2).sum(axis=2)).min(axis=1)
    return least


def _edges_to_edges(first_m: Floats, second_m: Floats) -> Floats:
    """The least distance of edges that are closest within both; ends are corners, which count elsewhere."""
    start_a, start_b = first_m[:, EDGES[:, 0], None], second_m[:, None, EDGES[:, 0]]
    along_a = first_m[:, EDGES[:, 1], None] - start_a
    along_b = second_m[:, None, EDGES[:, 1]] - start_b
    between = start_a - start_b
    aa, bb, ab = (along_a**2).sum(-1), (along_b**2).sum(-1), (along_a * along_b).sum(-1)
    to_a, to_b = (along_a * between).sum(-1), (along_b * between).sum(-1)
    spread = aa * bb - ab**2
    crossing = spread > PARALLEL * aa * bb
    divisor = np.where(crossing, spread, 1.0)
    s, t = (ab * to_b - bb * to_a) / divisor, (aa * to_b - ab * to_a) / divisor
    inside = crossing & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    gaps = between + s[..., None] * along_a - t[..., None] * along_b
    lengths = np.where(inside, np.sqrt((gaps**2).sum(-1)), np.inf)
    least: Floats = lengths.min(axis=(1, 2))
    return least


def footprint(box: Box) -> BaseGeometry:
    """What the box covers seen from above: the hull of its corners, in metres."""
    corners = BoxArray.of([box]).corners_m()[0, :, :2]
    return shapely.MultiPoint(corners).convex_hull


def gap_m(first: Box, second: Box) -> float:
    """The least distance of two boxes seen from above, in metres; 0 where they overlap."""
    return float(footprint(first).distance(footprint(second)))


def width_upright_m(box: Box) -> float | None:
    """The shorter horizontal edge of an upright box in metres; None for one that leans.

    >>> width_upright_m(Box(name="a", kind="a", centre_m=(0, 0, 0), lengths_m=(2, 0.5, 1)))
    0.5
    """
    rise = [abs(axis[2]) for axis in box.axes]
    upright = int(np.argmax(rise))
    if rise[upright] < np.cos(np.radians(UPRIGHT_DEG)):
        return None
    return float(min(length for at, length in enumerate(box.lengths_m) if at != upright))
