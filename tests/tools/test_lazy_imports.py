"""What is imported late is named, so that a worker has it before it forks."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A job without pictures loads it as well, with the store: what puts pictures there names Pillow itself.
NEVER_EARLY = {
    "tools/gnomon_tools/core/open_picture.py": {"PIL"},
    # Every job with `tools: all` loads the gazetteer's tools, few call them; reading its tables takes longer.
    "packages/published/gnomon_published/gazetteer/tables.py": {
        "pyarrow.dataset",
        "pyarrow.parquet",
        "scipy.spatial",
    },
    "packages/published/gnomon_published/gazetteer/areas.py": {"pyarrow.compute"},
    # Every job on worlds loads these, few have towns on such plans; audits alone tie targets to one another.
    "packages/worlds/gnomon_worlds/street_plans.py": {"networkx", "scipy.spatial"},
    "packages/worlds/gnomon_worlds/osm_streets.py": {"networkx", "osmium"},
    "gnomon/benchmarks/gtr_bench/audit/shortcuts.py": {"networkx"},
    # Batches are for the API and notebooks; a worker's calls are single.
    "tools/gnomon_tools/core/batch.py": {"numpy"},
}
SOURCES = [
    path.relative_to(ROOT).as_posix()
    for folder in ("tools", "gnomon/media", "packages/worlds/gnomon_worlds", "gnomon/benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.parent.name not in ("commands", "tracking", "recordings")  # which write files, in no worker
]


def module_name(source: str) -> str:
    """The module of a source: what follows the folder in which its package lies."""
    parts = source.removesuffix(".py").split("/")
    return ".".join(parts[next(at for at, part in enumerate(parts) if part.startswith("gnomon")) :])


def _late_in(source: str) -> set[str]:
    """What functions of a module import, by full names."""
    tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = [node for function in functions for node in ast.walk(function)]
    found = {alias.name for node in inner if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module or "" for node in inner if isinstance(node, ast.ImportFrom)}
    foreign = (name for name in found if not name.startswith("gnomon"))
    return {name for name in foreign if name.partition(".")[0] not in sys.stdlib_module_names}


def test_what_a_function_imports_is_named_by_its_module():
    late = {source: names for source in SOURCES if (names := _late_in(source))}
    assert len(late) > 4
    for source, names in late.items():
        module = importlib.import_module(module_name(source))
        assert names - NEVER_EARLY.get(source, set()) <= set(getattr(module, "LAZY", ())), source


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
# In a fork of a process that has loaded no tool: what came early, and what the call still imported.
CALLED = """
import json, os, sys
from gnomon_tools.core.lazy_imports import load_lazy
from gnomon_tools.core.toolbox import TOOLS, Toolbox

for name, arguments in json.loads(sys.argv[1]).items():
    if os.fork() == 0:
        tool = TOOLS.get(name)
        load_lazy()
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
        box, before = Toolbox([tool], ToolContext(inputs=held(scene))), set(sys.modules)
        error = box.call(name, json.dumps(arguments)).error
        new = {module.partition(".")[0] for module in set(sys.modules) - before} - sys.stdlib_module_names
        print(json.dumps([name, error, early, sorted(new)]), flush=True)
        os._exit(0)
    os.wait()
"""


def test_a_call_imports_no_library_that_was_not_there_before_and_no_tool_more_than_it_needs():
    command = [sys.executable, "-c", CALLED, json.dumps(CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in told] == list(CALLS)
    assert {name: (error, new) for name, error, _, new in told if error or new} == {}
    early = {name: early for name, _, early, _ in told}
    assert early["speed"] == early["bearing"] == early["list_cameras"] == []
    assert early["travel_time"] == ["numpy", "scipy", "shapely"]
