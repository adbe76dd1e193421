"""Measures one tool call in process, and many points against many fields of view."""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools.core.inputs import held
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from tools.geometry.field_of_view import fields_containing
from tools.scene.format import read_scene
from tools.scene.frame import Frame
from tools.scene.scene import Camera, Scene

SCENE = Path(__file__).parents[2] / "examples" / "scenes" / "small.geojson"
CALLS = 200
START, END = '{"camera":"c1"}', '{"camera":"c3"}'
ARGUMENTS = {
    "bearing": f'{{"start":{START},"end":{END}}}',
    "camera_view": '{"camera":"c1"}',
    "cameras_seeing": '{"points":[[-60,0]]}',
    "distance": f'{{"start":{START},"end":{END}}}',
    "list_cameras": "{}",
    "lookup": '{"name":"bakery"}',
    "neighbours": '{"camera":"c1"}',
    "speed": '{"distance_m":105.0,"seconds":75.0}',
    "travel_time": f'{{"start":{START},"end":{END},"speed_mps":1.4}}',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCost:
    """One tool on the example's streets: the median of CALLS calls, argument check and JSON included."""

    tool: str
    median_ms: float
    first_ms: float  # on a scene of which nothing is known yet
    error: str | None  # the call was refused: no measurement


def tool_costs() -> list[ToolCost]:
    """The cost of a call of each tool that has arguments above."""
    names = [name for name in ARGUMENTS if name in TOOLS.names()]
    tools = [TOOLS.get(name) for name in names]
    found = []
    for name in names:
        Toolbox(tools, ToolContext(inputs=held(read_scene(SCENE)))).call(
            name, ARGUMENTS[name]
        )  # imports, schemas
        box = Toolbox(tools, ToolContext(inputs=held(read_scene(SCENE))))
        first, *later = [_call_s(box, name) for _ in range(1 + CALLS)]
        cost = statistics.median(one_s for one_s, _ in later)
        found.append(ToolCost(tool=name, median_ms=cost * 1000, first_ms=first[0] * 1000, error=first[1]))
    return found


def _call_s(box: Toolbox, name: str) -> tuple[float, str | None]:
    """CPU seconds of a call, and what was wrong with it."""
    began_s = time.thread_time()
    error = box.call(name, ARGUMENTS[name]).error
    return time.thread_time() - began_s, error


def points_in_views(points: int = 1_000_000, cameras: int = 200) -> tuple[float, int]:
    """CPU seconds of that many points against that many fields of view, set-up left out; how many hits."""
    random = np.random.default_rng(0)
    placed = {
        f"c{number}": Camera(
            id=f"c{number}",
            xy_m=(float(random.uniform(0, 1000)), float(random.uniform(0, 1000))),
            heading_deg=float(random.uniform(0, 360)),
            fov_deg=60.0,
            range_m=60.0,
        )
        for number in range(cameras)
    }
    scene = Scene(id="many", frame=Frame(), kind="outdoor", cameras=placed)
    fields_containing(scene, np.zeros((1, 2)))
    points_m = random.uniform(0, 1000, (points, 2))
    began_s = time.process_time()
    hits = fields_containing(scene, points_m)
    return time.process_time() - began_s, sum(map(len, hits.values()))
