"""Measures each option of a question by the shortest ways on the map, as the tools do."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import shapely

from gnomon.core.clock import day_span
from gnomon_published.benchmarks.gtr_bench.option_features import Asked, Floats, corners_of
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import Evidence, Place
from gnomon_tools.geometry.network import Network
from gnomon_tools.scene.scene import Scene

FAR_M = 1e5  # where there is no way
SLOWEST_MPS = 0.1
ROAD_M = 10.0  # to either side of a road's middle


def way_features(
    questions: Sequence[tuple[Asked, Scene]], names: Sequence[str], columns: Floats
) -> tuple[tuple[str, ...], Floats]:
    """The given features, and beside them those of ways, in metres and seconds."""
    rows = [[_measured(asked, option, scene) for option in options] for (asked, options), scene in questions]
    of_ways = tuple(f"way {number}" for number in range(1, len(rows[0][0]) + 1))
    return (*names, *of_ways), np.concatenate([columns, np.array(rows, dtype=np.float64)], axis=2)


def _measured(asked: Evidence, option: str, scene: Scene) -> Sequence[float]:
    def way_m(start: Place, end: Place) -> float:
        return min(Network.of(scene).length_m(start.xy_m, start.floor, end.xy_m, end.floor), FAR_M)

    tracks = asked.tracks
    if asked.task == "GL":
        spot = asked.spots[option]
        there_m, on_m = way_m(tracks[0].last, spot), way_m(spot, tracks[1].first)
        return (there_m, on_m, there_m + on_m, there_m + on_m - way_m(tracks[0].last, tracks[1].first))
    if asked.task in ("NSF", "TF"):
        spot, last = asked.spots[option], tracks[-1]
        onward_m, back_m = way_m(last.last, spot), way_m(last.first, spot)
        return (onward_m, back_m - onward_m, onward_m + FAR_M * (back_m < onward_m))
    if asked.task == "MTTF":
        spot = asked.spots[option]
        ways_m = [way_m(track.last, spot) for track in tracks]
        arrive_s = [
            (track.span_s[1] if track.span_s else 0.0) + length_m / max(track.speed_mps, SLOWEST_MPS)
            for track, length_m in zip(tracks, ways_m, strict=True)
        ]
        nearest_m = min(
            way_m(track.first, spot) - length_m for track, length_m in zip(tracks, ways_m, strict=True)
        )
        return (max(arrive_s) - min(arrive_s), sum(ways_m), nearest_m)
    if asked.task == "ATI":
        return _in_time(
            asked,
            option,
            way_m(tracks[0].last, asked.spots[asked.asked]),
            way_m(asked.spots[asked.asked], tracks[1].first),
        )
    if asked.task == "CR":
        by = {track.camera: track for track in tracks}
        order = [by[name] for name in option.split(" → ")]
        return (sum(way_m(before.last, after.first) for before, after in pairwise(order)),)
    corners = corners_of(tracks[0].last.xy_m, option)
    told_m = sum(math.dist(*run) for run in pairwise(corners))
    return (*_off_ways(asked, corners, scene), abs(told_m - way_m(tracks[0].last, tracks[1].first)))


def _in_time(asked: Evidence, option: str, there_m: float, on_m: float) -> Sequence[float]:
    spans, interval = [track.span_s for track in asked.tracks], day_span(option)
    if interval is None or spans[0] is None or spans[1] is None:
        return (0.0, 0.0)
    left_s, came_s = spans[0][1], spans[1][0]
    late_s = sum(interval) / 2 - (left_s + (came_s - left_s) * there_m / max(there_m + on_m, 1.0))
    return (late_s, abs(late_s))


def _off_ways(asked: Evidence, corners: Floats, scene: Scene) -> tuple[float, float]:
    """How much of a walk is off the roads, and how often it crosses the outline of a room away from doors."""
    if len(corners) < 2:
        return (0.0, 0.0)
    walk = shapely.LineString(corners)
    roads = [road.line for road in scene.roads.values()]
    off_m = walk.difference(shapely.union_all(roads).buffer(ROAD_M)).length if roads else 0.0
    floor = asked.tracks[0].last.floor
    walls = [zone.area.exterior for zone in scene.zones.values() if zone.floor == floor]
    doors = [shapely.Point(portal.ends_m[0]).buffer(1.5) for portal in scene.portals.values()]
    crossed = (
        walk.intersection(shapely.union_all(walls).difference(shapely.union_all(doors))) if walls else None
    )
    return (off_m, float(shapely.get_num_geometries(crossed)) if crossed and not crossed.is_empty else 0.0)
