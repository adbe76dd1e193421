"""What models are sent of tools is short, says all names and types, and leaves contracts as they were."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gnomon.core.arm import Arm
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.tool_inputs import usable_tools
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.condition import Situation, schemas_sent, shown
from gnomon_tools.core.json_schema import brief_schema
from gnomon_tools.core.toolbox import TOOLS, Toolbox

BYTES_PER_TOKEN = 4  # of compact JSON
MOST_OF_A_TOOL = 250
# Nested plans and departures have more fields than fit: as few tokens as they have now is what they may have.
LONGER = {
    "meeting_candidates": 480,
    "forecast_arrival": 420,
    "check_plan": 400,
    "sandbox_schedule": 370,
    "order_cost": 355,
    "compose_poses": 330,
    "interpolate": 305,
    "sandbox_check": 285,
    "sandbox_cost": 280,
}


def tokens(schema: Any) -> int:
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()) // BYTES_PER_TOKEN


def brief(name: str) -> Any:
    return brief_schema(TOOLS.get(name).schema())


def fields_of(schema: Any) -> Iterator[tuple[str, Any]]:
    for name, part in schema.get("properties", {}).items():
        yield name, part
        yield from fields_of(part)
    if isinstance(schema.get("items"), dict):
        yield from fields_of(schema["items"])


@pytest.mark.parametrize("name", TOOLS.names())
def test_a_tool_is_told_within_its_tokens_and_with_all_its_arguments(name: str) -> None:
    short, whole = (schema["function"] for schema in (brief(name), TOOLS.get(name).schema()))
    assert tokens(brief(name)) <= LONGER.get(name, MOST_OF_A_TOOL)
    assert (short["name"], short["description"]) == (whole["name"], whole["description"])
    told, there = dict(fields_of(short["parameters"])), dict(fields_of(whole["parameters"]))
    assert told.keys() == there.keys()
    for field, part in told.items():
        assert (part["type"], part.get("enum")) == (there[field]["type"], there[field].get("enum"))
        assert "title" not in part
    assert short["parameters"].get("required") == whole["parameters"].get("required")


@pytest.mark.parametrize(
    ("benchmark", "most", "share"),
    [("worlds", 3_700, 0.75), ("mapeval", 800, 0.85), ("itinerary", 1_400, 0.8)],
)
def test_all_tools_of_a_benchmark_stay_within_their_sum(benchmark: str, most: int, share: float) -> None:
    names = usable_tools(BENCHMARKS.get(benchmark))
    short, whole = (sum(map(tokens, each)) for each in (map(brief, names), map(_whole, names)))
    assert short <= most
    assert short < share * whole


def _whole(name: str) -> Any:
    return TOOLS.get(name).schema()


def test_jobs_of_earlier_words_are_sent_what_they_were_and_contracts_are_of_whole_schemas() -> None:
    arm = Arm(name="tools", agent="react", tools=("distance", "forecast_arrival"))
    spec = {"benchmark": "worlds", "models": [{"id": "reference"}], "arms": [arm.model_dump(mode="json")]}
    for words, expected in ((1, _whole), (2, _whole), (3, brief), (4, brief)):
        job = JobSpec.model_validate({**spec, "words": words})
        now = Situation.of(arm, spec=job)
        sent = schemas_sent(arm, job, arm.toolset())  # which reports and plans count
        assert sent == shown(Toolbox(arm.toolset(), None), now).schemas
        assert sent == [expected(name) for name in arm.tools]
    assert arm.toolset_hash == arm.model_copy().toolset_hash


def test_a_servers_schema_loses_titles_and_keeps_an_argument_of_that_name() -> None:
    parameters = {
        "title": "calculateArguments",
        "type": "object",
        "properties": {"title": {"title": "Title", "type": "string", "maxLength": 9}},
        "required": ["title"],
        "additionalProperties": False,
    }
    function = {"name": "calculate", "description": "Adds.", "parameters": parameters}
    told = brief_schema({"type": "function", "function": function})
    assert told["function"]["parameters"] == {
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    }
    assert parameters["title"] == "calculateArguments"


def test_calls_go_to_the_same_tools_under_the_names_that_are_shown() -> None:
    arm = Arm(name="tools", agent="react", tools=("speed",), tool_names="renamed")
    toolbox = shown(Toolbox(arm.toolset(), None), Situation.of(arm))
    [schema] = toolbox.schemas
    shown_as = schema["function"]["name"]
    assert toolbox.own_name(shown_as) == "speed"
    assert toolbox.call(shown_as, '{"metres": 3}').error == "bad_arguments"
