"""Buildings along the streets of a town, and what they hide from a camera."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from random import Random

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from gnomon_tools.scene.scene import Point, Road

SETBACK_M = 7.4  # from the middle of a street to the nearest wall
DEEP_M, WIDE_M, STOREY_M = (9.0, 15.0), (9.0, 19.0), 3.1
BEHIND_M = 300.0  # as far as a shadow is drawn, at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """A box with a flat roof, higher than any mast."""

    area: Polygon
    height_m: float


def draw_buildings(
    rng: Random,
    roads: Collection[Road],
    greens: Sequence[BaseGeometry],
    wider_m: Mapping[str, float] | None = None,
) -> tuple[Building, ...]:
    """Draw buildings on plots beside streets: none on another street, on a green or on one another.

    `wider_m`: by road, by how much it is broader than SETBACK_M leaves room for.
    """
    wider = wider_m or {}
    lines = widened(roads, wider)
    plots = [plot for road in roads for plot in plots_along(rng, road, wider.get(road.id, 0.0))]
    areas = [area for area, _ in plots]
    is_apart = shapely.distance(areas, lines) >= SETBACK_M - 0.1
    is_free = ~shapely.intersects(areas, shapely.union_all(greens))
    fit = [plot for plot, fits in zip(plots, is_apart & is_free, strict=True) if fits]
    near: list[list[int]] = [[] for _ in fit]  # by plot those that it meets, itself among them
    areas = [area for area, _ in fit]
    for plot, neighbour in shapely.STRtree(areas).query(areas, predicate="intersects").T.tolist():
        near[plot].append(neighbour)
    is_built = [False] * len(fit)
    for plot, neighbours in enumerate(near):
        is_built[plot] = not any(is_built[neighbour] for neighbour in neighbours)
    return tuple(Building(area=area, height_m=height_m) for area, height_m in compress(fit, is_built))


def widened(roads: Collection[Road], wider_m: Mapping[str, float]) -> BaseGeometry:
    """The middles of streets, broader ones as strips, so that walls keep SETBACK_M from all of them."""
    return shapely.union_all(
        [road.line.buffer(wider_m[road.id]) if wider_m.get(road.id) else road.line for road in roads]
    )


def visible(view: Polygon, eye_m: Point, walls: Sequence[Polygon]) -> Polygon:
    """Return the part of a view that convex walls leave to an eye; empty where it is not in one piece.

    Seen from the eye, a convex wall P hides the union of all t P for t > 1: the hull of P and a large copy.
    """
    shapely.prepare(view)
    near = np.array(walls, dtype=object)[shapely.intersects(view, walls)]
    if not near.size:
        return view
    corners_m, wall = shapely.get_coordinates(near, return_index=True)
    times = 1 + BEHIND_M / np.maximum(0.5, shapely.distance(near, shapely.Point(eye_m)))
    far_m = eye_m + times[wall, None] * (corners_m - eye_m)
    outlines = shapely.linestrings(np.hstack([corners_m, far_m]).reshape(-1, 2), indices=np.repeat(wall, 2))
    left = view.difference(shapely.union_all(shapely.convex_hull(outlines)))
    return left if isinstance(left, Polygon) else Polygon()


def plots_along(rng: Random, road: Road, wider_m: float = 0.0) -> Iterator[tuple[Polygon, float]]:
    """Plots side by side on both sides of a street, each with the height of its building."""
    start, end = ((float(x), float(y)) for x, y in (road.line.coords[0], road.line.coords[-1]))
    east, north = (end[0] - start[0]) / road.line.length, (end[1] - start[1]) / road.line.length
    for side in (-1, 1):
        at_m = rng.uniform(7, 12)
        while at_m < road.line.length - 12:
            wide_m, deep_m, back_m = (
                rng.uniform(*WIDE_M),
                rng.uniform(*DEEP_M),
                SETBACK_M + wider_m + rng.uniform(0, 1.2),
            )
            corners = [
                (at_m, back_m),
                (at_m + wide_m, back_m),
                (at_m + wide_m, back_m + deep_m),
                (at_m, back_m + deep_m),
            ]
            yield (
                Polygon(
                    [
                        (start[0] + a * east + side * o * north, start[1] + a * north - side * o * east)
                        for a, o in corners
                    ]
                ),
                rng.choice((2, 2, 3, 3, 4, 5)) * STOREY_M + 0.8,
            )
            at_m += wide_m + rng.choice((0.0, 0.0, 0.4, 3.0, 6.0))
