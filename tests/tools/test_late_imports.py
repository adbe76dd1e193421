"""A tool loads no library before a call needs it."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE, THERE = {"camera": "c1"}, {"camera": "c2"}
CALLS = {
    "bearing": {"start": HERE, "end": THERE},
    "camera_view": HERE,
    "cameras_seeing": {"points": [[10, 0]]},
    "distance": {"start": HERE, "end": THERE},
    "list_cameras": {},
    "lookup": {"name": "bakery"},
    "neighbours": HERE,
    "speed": {"distance_m": 105.0, "seconds": 75.0},
    "travel_time": {"start": HERE, "end": THERE, "speed_mps": 1.4},
}
# In a fork of a process that has loaded no tool: what came with the tool, and whether its call fails.
CALLED = """
import json, os, sys
from gnomon_tools.core.toolbox import TOOLS, Toolbox

for name, arguments in json.loads(sys.argv[1]).items():
    if os.fork() == 0:
        tool = TOOLS.get(name)
        early = sorted(set(sys.modules) & {"numpy", "scipy", "shapely", "pyarrow", "av", "PIL"})
        from shapely import LineString
        from gnomon_tools.core.inputs import held
        from gnomon_tools.core.tool import ToolContext
        from gnomon_tools.scene.frame import Frame
        from gnomon_tools.scene.scene import Camera, Road, Scene, ScenePlace
        view = {"heading_deg": 90, "fov_deg": 60, "range_m": 40}
        seers = {c: Camera(id=c, xy_m=(x_m, 1.0), **view) for c, x_m in (("c1", 0.0), ("c2", 90.0))}
        roads = {"r": Road(id="r", line=LineString([(-10, 0), (100, 0)]))}
        places = {"p": ScenePlace(id="p", name="Bakery", kind="shop", xy_m=(5.0, 5.0))}
        scene = Scene(id="s", frame=Frame(), kind="outdoor", cameras=seers, roads=roads, places=places)
        box = Toolbox([tool], ToolContext(inputs=held(scene)))
        error = box.call(name, json.dumps(arguments)).error
        print(json.dumps([name, error, early]), flush=True)
        os._exit(0)
    os.wait()
"""


def test_no_tool_loads_a_library_that_its_calls_do_not_need():
    command = [sys.executable, "-c", CALLED, json.dumps(CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(name, error) for name, error, _ in told] == [(name, None) for name in CALLS]
    early = {name: early for name, _, early in told}
    assert early["speed"] == early["bearing"] == early["list_cameras"] == []
    assert early["travel_time"] == ["numpy", "shapely"]
