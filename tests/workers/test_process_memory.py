"""A worker holds what its job needs, and no more; what it was loaded without can be loaded afterwards."""

import json
import os
import subprocess
import sys

import pytest

from agents.core.langgraph_runtime import DISPENSABLE, LARGE, LATE
from workers.process import DISPENSABLE as DISPENSABLE_TO_REDIS
from workers.process import LATE as LATE_FOR_REDIS

HEAVY = {"PIL", "av", "litellm", "networkx", "numpy", "opening_hours", "pyarrow", "scipy", "shapely", "yaml"}
BLAS_ALONE = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as the command line has it
OPTIONAL = {"charset_normalizer", "httpx2", "opentelemetry", "psutil", "pygments", "rich", "websockets"}

START = """
import json, sys
import workers.__main__
assert "redis" not in sys.modules  # its start comes first, then Redis, or it would bring OpenTelemetry along

from workers.process import limit_memory
limit_memory()
from agents.models.catalog import open_model, preload
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from workers.worker import import_for

def begin(tool):
    arm = {"name": "tools", "agent": "react", "tools": [tool]}
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


def test_a_worker_for_text_and_a_calculation_holds_no_library_of_scenes_pictures_or_trips():
    [loaded] = _told("print(json.dumps(begin('speed')))")
    assert {"aiohttp", "langgraph", "redis", "rq", "sqlalchemy"} <= set(loaded)
    assert not (HEAVY | OPTIONAL) & set(loaded)


def test_a_worker_has_scipy_before_it_forks_for_a_tool_that_finds_ways():
    [loaded] = _told("print(json.dumps(begin('travel_time')))")
    assert {"numpy", "scipy", "shapely"} <= set(loaded)


def test_nothing_stays_hidden():
    names = sorted({*DISPENSABLE, *LARGE, *LATE, *DISPENSABLE_TO_REDIS, *LATE_FOR_REDIS})
    code = f"""
begin("speed")
import importlib
assert None not in sys.modules.values()
print(json.dumps([importlib.import_module(name).__name__ for name in {names}]))
"""
    assert _told(code) == [names]


def test_packages_of_which_a_type_was_wanted_give_all_that_they_have_when_asked():
    code = """
begin("speed")
import langgraph_sdk
import langsmith.types
print(json.dumps([langgraph_sdk.get_client.__name__, langsmith.types.Run.__name__]))
"""
    assert _told(code) == [["get_client", "Run"]]


GRAPH = """
begin("speed")
import asyncio
from gnomon.core.agent import AGENTS, AgentContext
from gnomon.core.arm import Arm
from gnomon.spec.model_spec import ModelSpec
from gnomon.core.trace import Trace
from tools.core.inputs import held
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from tools.scene.frame import Frame
from tools.scene.scene import Scene

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
"""
LATE_NAMES = f"""
begin("speed")
print(json.dumps([name for name in {[*LATE, *LATE_FOR_REDIS]} if name in sys.modules]))
"""


def test_the_graph_runs_in_such_a_worker_and_imports_no_library_on_its_first_walk():
    answer, observed, new = _told(GRAPH)
    assert answer == "B"
    assert json.loads(observed[0])["speed_mps"] == 2.0
    assert new == []


def test_what_such_a_worker_names_and_does_not_use_is_not_loaded_until_it_is_used():
    code = """
import langsmith
import redis
from langchain_core.utils import pydantic as compatibility
from langsmith.run_trees import RunTree, WriteReplica

class Own(redis.RedisCluster):
    pass

import pydantic.v1
class Old(pydantic.v1.BaseModel):
    number: int = 1

print(json.dumps(issubclass(Own, importlib.import_module("redis.cluster").RedisCluster)))
print(json.dumps([compatibility.is_pydantic_v1_subclass(Old), compatibility.is_basemodel_instance(Old())]))
client = langsmith.Client(api_url="http://127.0.0.1:1", api_key="k", auto_batch_tracing=False)
print(json.dumps(type(client) is importlib.import_module("langsmith.client").Client))
"""
    assert _told(LATE_NAMES + "import importlib" + code) == [[], True, [True, True], True]


def test_a_model_of_a_library_makes_its_validator_when_it_is_used():
    code = """
begin("speed")
from langchain_core.messages import AIMessage
from langsmith.schemas import Run
from pydantic import BaseModel

class Own(BaseModel):
    number: int

print(json.dumps([model.__pydantic_complete__ for model in (AIMessage, Run, Own)]))
print(json.dumps([AIMessage("hello").content, AIMessage.__pydantic_complete__]))
"""
    assert _told(code) == [[False, False, True], ["hello", True]]


def test_tools_of_langchain_are_made_and_called_in_such_a_worker():
    code = """
begin("speed")
import langgraph.prebuilt
from langchain_core.tools import tool

@tool
def double(number: int) -> int:
    "Twice the number."
    return 2 * number

print(json.dumps([double.invoke({"number": 2}), sorted(double.args)]))
"""
    assert _told(code) == [[4, ["number"]]]


STREAMS = """
begin("speed")
import asyncio
from langchain_core.tracers.log_stream import RunLogPatch
from langgraph.graph import END, START, MessagesState, StateGraph

def say(state):
    return {"messages": [("assistant", "hello")]}

graph = StateGraph(MessagesState).add_node("say", say).add_edge(START, "say").add_edge("say", END).compile()

async def events():
    return [event["event"] async for event in graph.astream_events({"messages": []}, version="v2")]

print(json.dumps(graph.invoke({"messages": []})["messages"][-1].content))
print(json.dumps(asyncio.run(events())[-1]))
patches = [RunLogPatch({"op": "add", "path": path, "value": {}}) for path in ("", "/final")]
print(json.dumps((patches[0] + patches[1]).state))
"""


def test_a_graph_of_somebody_s_streams_its_events_in_such_a_worker():
    assert _told(STREAMS) == ["hello", "on_chain_end", {"final": {}}]


BEFORE_FORKS = """
import json, os, sys
import service.local_stack
from gnomon.spec.job_spec import JobSpec
from service.local_stack import _import_for

print(json.dumps("agents" in sys.modules))
arm = {"name": "tools", "agent": "react", "tools": ["travel_time"]}
spec = {"benchmark": "worlds", "models": [{"id": "reference"}], "arms": [arm]}
_import_for(JobSpec.model_validate(spec))
needed = ("agents.react", "agents.models.reference.model", "langgraph.func", "scipy.sparse.csgraph")
print(json.dumps([name for name in needed if name not in sys.modules]))
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks of a run are made on Linux only")
def test_a_run_imports_all_that_its_workers_need_and_starts_no_thread_by_that():
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_FORKS], capture_output=True, text=True, check=False, env=BLAS_ALONE
    )
    assert done.returncode == 0, done.stderr
    has_agents, missing, threads = [json.loads(line) for line in done.stdout.splitlines()]
    assert (has_agents, missing, threads) == (False, [], 1)


SPANS = """
begin("speed")
from workers.tracing import ENDPOINT, tracing
with tracing("job", 0, worker="w", environ={ENDPOINT: "http://127.0.0.1:1"}) as tracer:
    print(json.dumps(tracer.__module__), flush=True)
    import os
    os._exit(0)  # nobody listens there: it would wait to get rid of them
"""


def test_spans_are_made_where_they_are_wanted():
    assert _told(SPANS) == ["workers.tracing"]
