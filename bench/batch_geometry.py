"""Measures the batch forms of tools beside vectorised NumPy or Shapely doing the same, and single calls.

    .venv/bin/python -m bench.batch_geometry [--rows 1000000]

CPU seconds of the process: the middle of three rounds, in which both forms alternate; set-up (the scene, its
fields of view, its network) is left out. The single call is timed on 200 rows and extrapolated. Ours include
the checks of every column; the others check nothing.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from tools.core.batch import Numbers, run_batch
from tools.core.inputs import held
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS
from tools.geometry.field_of_view import view_of
from tools.scene.frame import Frame
from tools.scene.scene import Camera, Road, Scene

ROUNDS, SINGLE_CALLS, SIDE_M, CAMERAS, BLOCKS = 3, 200, 1000.0, 200, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One tool on columns, the same in NumPy or Shapely, and the arguments of a single call of a row."""

    label: str
    tool: str
    scene: Scene
    columns: dict[str, Any]
    plain: Callable[[], object] | None
    single: Callable[[int], dict[str, Any]]
    rows: int


def many_cameras() -> Scene:
    """200 cameras at random on a square kilometre, with views of 60 m and 60°."""
    random = np.random.default_rng(0)
    cameras = {
        f"c{number}": Camera(
            id=f"c{number}",
            xy_m=(float(random.uniform(0, SIDE_M)), float(random.uniform(0, SIDE_M))),
            heading_deg=float(random.uniform(0, 360)),
            fov_deg=60.0,
            range_m=60.0,
            homography=np.array([[0.02, 0.0, -10.0], [0.0, -0.02, 40.0], [0.0, 0.002, 1.0]]),
            image_size=(1280, 720),
        )
        for number in range(CAMERAS)
    }
    return Scene(id="many", frame=Frame(), kind="outdoor", cameras=cameras)


def many_streets() -> Scene:
    """A square kilometre of 12 × 12 blocks, each side of a block a road of its own."""
    step_m = SIDE_M / BLOCKS
    corners = [(x, y) for x in range(BLOCKS + 1) for y in range(BLOCKS + 1)]
    sides = [((x, y), (x + dx, y + dy)) for x, y in corners for dx, dy in ((1, 0), (0, 1))]
    lines = [shapely.LineString(np.array(side) * step_m) for side in sides if max(side[1]) <= BLOCKS]
    roads = {f"r{number}": Road(id=f"r{number}", line=line) for number, line in enumerate(lines)}
    return Scene(id="streets", frame=Frame(), kind="outdoor", roads=roads)


def plain_ways(scene: Scene, start_m: Numbers, end_m: Numbers) -> Callable[[], object]:
    """Lengths of shortest ways by STRtree, linear referencing and one table of distances of all junctions."""
    lines = np.array([road.line for road in scene.roads.values()])
    tree, ends = shapely.STRtree(lines), shapely.get_coordinates(lines).reshape(-1, 2)
    spots, number = np.unique(ends.round(3), axis=0, return_inverse=True)
    junctions = number.reshape(-1, 2)
    lengths_m = shapely.length(lines)
    graph = coo_array((lengths_m, (junctions[:, 0], junctions[:, 1])), shape=(len(spots), len(spots)))
    between_m = dijkstra(graph.tocsr(), directed=False)

    def joined(points_m: Numbers) -> tuple[Any, Any, Any]:
        points = shapely.points(points_m)
        road = tree.nearest(points)
        along_m = shapely.line_locate_point(lines[road], points)
        snap_m = shapely.distance(lines[road], points)
        return road, np.column_stack([along_m, lengths_m[road] - along_m]), snap_m

    def ways() -> object:
        (road, leave_m, snap_m), (to_road, arrive_m, to_snap_m) = joined(start_m), joined(end_m)
        best_m = np.where(road == to_road, np.abs(leave_m[:, 0] - arrive_m[:, 0]), np.inf)
        for here in (0, 1):
            for there in (0, 1):
                way_m = between_m[junctions[road, here], junctions[to_road, there]]
                best_m = np.minimum(best_m, leave_m[:, here] + way_m + arrive_m[:, there])
        error_m = snap_m + to_snap_m
        return best_m / 10, np.maximum(best_m - error_m, 0) / 10, (best_m + error_m) / 10

    return ways


def cases(rows: int) -> Sequence[Case]:
    """Every batch form on so many rows."""
    random = np.random.default_rng(1)
    start, end = random.uniform(0, SIDE_M, (2, rows, 2))
    lengths_m, seconds = random.uniform(0, 100, rows), random.uniform(1, 100, rows)
    scene = many_cameras()
    anchored = Scene(id="anchored", frame=Frame(lat_deg=60.0, anchored=True), kind="outdoor")
    views = np.array([view_of(camera) for camera in scene.cameras.values()])
    ids = np.array(list(scene.cameras))
    for view in views:
        shapely.prepare(view)

    def ends(row: int) -> dict[str, Any]:
        names = {"start": start[row].tolist(), "end": end[row].tolist()}
        return {name: {"x_m": x_m, "y_m": y_m} for name, (x_m, y_m) in names.items()}

    def plain_bearing() -> object:
        east_m, north_m = (end - start).T
        angles_deg = np.degrees(np.arctan2(east_m, north_m)) % 360
        return angles_deg, np.degrees(np.arcsin(np.zeros(rows) / np.hypot(east_m, north_m)))

    def plain_views() -> object:
        found, camera = shapely.STRtree(views).query(shapely.points(start), predicate="intersects")
        return found, ids[camera]

    def plain_near() -> object:
        row, near = shapely.STRtree(masts).query(shapely.points(start), predicate="dwithin", distance=50.0)
        return row, ids[near], np.hypot(*(start[row] - shapely.get_coordinates(masts)[near]).T)

    masts = shapely.points([camera.xy_m for camera in scene.cameras.values() if camera.xy_m is not None])
    boxes = np.column_stack([random.uniform(0, 1200, rows), random.uniform(100, 600, rows)])
    boxes = np.column_stack([boxes, random.uniform(10, 100, (rows, 2))])

    def plain_floor() -> object:
        homography = scene.cameras["c0"].homography
        assert homography is not None  # made above
        feet_px = np.column_stack([boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3], np.ones(rows)])
        mapped = feet_px @ homography.T
        points_m = mapped[:, :2] / mapped[:, 2:]
        jacobian = homography[:2, :2] - points_m[:, :, None] * homography[2, :2]
        spread = np.sqrt((jacobian**2).sum(axis=(1, 2))) / np.abs(mapped[:, 2])
        return points_m, (2 + 0.015 * boxes[:, 3]) * spread

    def plain_speed() -> object:
        speed_mps = lengths_m / seconds
        return speed_mps, speed_mps * 3.6, np.zeros(rows) / seconds

    pair = {"start": start, "end": end}
    streets = many_streets()
    return (
        Case(
            label="distance",
            tool="distance",
            scene=scene,
            columns=pair,
            plain=lambda: (np.hypot(*(end - start).T), np.zeros(rows)),
            single=ends,
            rows=rows,
        ),
        Case(
            label="distance, anchored",
            tool="distance",
            scene=anchored,
            columns=pair,
            plain=None,
            single=ends,
            rows=rows,
        ),
        Case(
            label="bearing",
            tool="bearing",
            scene=scene,
            columns=pair,
            plain=plain_bearing,
            single=ends,
            rows=rows,
        ),
        Case(
            label="speed",
            tool="speed",
            scene=scene,
            columns={"distance_m": lengths_m, "seconds": seconds},
            plain=plain_speed,
            single=lambda row: {"distance_m": float(lengths_m[row]), "seconds": float(seconds[row])},
            rows=rows,
        ),
        Case(
            label="project_track",
            tool="project_track",
            scene=scene,
            columns={"camera": "c0", "boxes": boxes},
            plain=plain_floor,
            single=lambda row: {"camera": "c0", "boxes": [boxes[row].tolist()], "times_s": [0.0]},
            rows=rows,
        ),
        Case(
            label=f"cameras_seeing, {CAMERAS} views",
            tool="cameras_seeing",
            scene=scene,
            columns={"points": start},
            plain=plain_views,
            single=lambda row: {"points": [start[row].tolist()]},
            rows=rows,
        ),
        Case(
            label=f"lookup, {CAMERAS} cameras within 50 m",
            tool="lookup",
            scene=scene,
            columns={"at": start, "radius_m": 50.0},
            plain=plain_near,
            single=lambda row: {"at": ends(row)["start"], "radius_m": 50.0},
            rows=rows,
        ),
        Case(
            label=f"travel_time, {len(streets.roads)} roads",
            tool="travel_time",
            scene=streets,
            columns={**pair, "speed_mps": np.full(1, 10.0)},
            plain=plain_ways(streets, start, end),
            single=lambda row: {**ends(row), "speed_mps": 10.0},
            rows=rows,
        ),
    )


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of the process that the work takes."""
    began_s = time.process_time()
    work()
    return time.process_time() - began_s


def measure(case: Case) -> str:
    """A line of the table."""
    tool = TOOLS.get(case.tool)
    context = ToolContext(inputs=held(case.scene))
    few = {name: column[:10] if np.ndim(column) else column for name, column in case.columns.items()}
    run_batch(tool, case.scene, few)  # imports, indexes
    tool.run(context, tool.read_args(case.single(0)))
    ours_s, plain_s = [], []
    for _ in range(ROUNDS):
        ours_s.append(cpu_s(lambda: run_batch(tool, case.scene, case.columns)))
        if case.plain is not None:
            plain_s.append(cpu_s(case.plain))
    singles_s = cpu_s(
        lambda: [tool.run(context, tool.read_args(case.single(row))) for row in range(SINGLE_CALLS)]
    )
    batch_s = statistics.median(ours_s)
    beside_s = statistics.median(plain_s) if plain_s else None
    beside, ratio = ("", "") if beside_s is None else (f"{beside_s:.3f}", f"{batch_s / beside_s:.2f}")
    loop_s = singles_s / SINGLE_CALLS * case.rows
    return f"| {case.label} | {case.rows:,} | {batch_s:.3f} | {beside} | {ratio} | {loop_s:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of a batch")
    print("| batch | rows | CPU s | NumPy or Shapely, s | ratio | single calls, s |")
    print("|---|---|---|---|---|---|")
    for case in cases(parser.parse_args().rows):
        print(measure(case), flush=True)


if __name__ == "__main__":
    main()
