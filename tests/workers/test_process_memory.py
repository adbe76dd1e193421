"""A worker holds what its job needs, and no more; what it was loaded without can be loaded afterwards."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

HEAVY = {"PIL", "av", "litellm", "networkx", "numpy", "opening_hours", "pyarrow", "scipy", "shapely", "yaml"}
BLAS_ALONE = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as the command line has it
OPTIONAL = {
    "charset_normalizer",
    "httpx2",
    "langgraph",
    "langsmith",
    "pygments",
    "rich",
    "websockets",
}

START = """
import json, sys
import gnomon_workers.__main__
from gnomon_workers.process import limit_memory
limit_memory()
from gnomon_agents.models.catalog import open_model, preload
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon_workers.worker import import_for

def begin(tool, agent="react"):
    arm = {"name": "tools", "agent": agent, "tools": [tool]}
    model = {"id": "openai/m", "api_base": "http://127.0.0.1:1/v1"}
    spec = JobSpec.model_validate({"benchmark": "quiz", "models": [model], "arms": [arm]})
    import_for(spec, preload)
    return sorted({name.partition(".")[0] for name, module in sys.modules.items() if module})
"""


def _told(code: str) -> list:
    command = [sys.executable, "-W", "error", "-c", START + code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


LOOP = """
print(json.dumps(begin("speed")))
import asyncio
from gnomon.core.agent import AGENTS, AgentContext
from gnomon.core.arm import Arm
from gnomon.spec.model_spec import ModelSpec
from gnomon.core.trace import Trace
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene

call = {"name": "speed", "arguments": {"distance_m": 10, "seconds": 5}}
spec = ModelSpec(id="scripted", options={"replies": [{"tool_calls": [call]}, "B"]})
SCENE = Scene(id="s", frame=Frame(), kind="outdoor")
context = AgentContext(
    prompt=[{"role": "user", "content": [{"type": "text", "text": "How fast?"}]}],
    arm=Arm(name="tools", agent="react", tools=("speed",)),
    model=open_model(spec, None),
    toolbox=Toolbox([TOOLS.get("speed")], ToolContext(inputs=held(SCENE))),
    trace=Trace(),
    seed=1,
)
before = set(sys.modules)
print(json.dumps(asyncio.run(AGENTS.get("react").answer(context))))
print(json.dumps([step.observation for step in context.trace.tool_steps]))
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted(new - sys.stdlib_module_names)))

from gnomon_workers.tracing import ENDPOINT, tracing
with tracing("job", 0, worker="w", environ={ENDPOINT: "http://127.0.0.1:1"}) as tracer:
    print(json.dumps(tracer.__module__), flush=True)
    import os
    os._exit(0)  # nobody listens there: it would wait to get rid of them
"""


@pytest.fixture(scope="module")
def told() -> list[Any]:
    """What one worker says of itself: a start takes two seconds."""
    return _told(LOOP)


def test_a_worker_for_text_and_a_calculation_holds_no_library_of_scenes_pictures_or_trips(told):
    loaded, *_ = told
    assert {"aiohttp", "redis", "rq", "sqlalchemy"} <= set(loaded)
    assert not (HEAVY | OPTIONAL) & set(loaded)


def test_the_loop_runs_in_such_a_worker_and_imports_no_library_on_its_first_walk(told):
    _, answer, observed, new, _ = told
    assert answer == "B"
    assert json.loads(observed[0])["speed_mps"] == 2.0
    assert new == []


def test_spans_are_made_where_they_are_wanted(told):
    assert told[-1] == "gnomon_workers.tracing"


BEFORE_FORKS = """
import json, os, sys
import gnomon_service.local_stack
from gnomon.spec.job_spec import JobSpec
from gnomon_service.local_stack import _import_for

print(json.dumps("agents" in sys.modules))
arm = {"name": "tools", "agent": "react", "tools": ["travel_time"]}
spec = {"benchmark": "worlds", "models": [{"id": "reference"}], "arms": [arm]}
_import_for(JobSpec.model_validate(spec))
needed = ("gnomon_agents.react", "gnomon_agents.models.reference.model", "gnomon_tools.travel_time")
print(json.dumps([name for name in needed if name not in sys.modules]))
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks of a run are made on Linux only")
def test_a_run_imports_what_its_workers_share_and_starts_no_thread_by_that():
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_FORKS], capture_output=True, text=True, check=False, env=BLAS_ALONE
    )
    assert done.returncode == 0, done.stderr
    has_agents, missing, threads = [json.loads(line) for line in done.stdout.splitlines()]
    assert (has_agents, missing, threads) == (False, [], 1)
