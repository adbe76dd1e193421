"""What models are sent of tools is short, says all names and types, and leaves contracts as they were."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gnomon.core.arm import Arm
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.tool_inputs import usable_tools
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.condition import Situation, schemas_sent, shown
from gnomon_tools.core.json_schema import MOST_BYTES, brief_schema
from gnomon_tools.core.toolbox import TOOLS, BriefToolbox, Toolbox

BYTES_PER_TOKEN = 4  # of compact JSON
MOST_OF_A_TOOL = 250
# Two sightings of nine fields each, one of them a place of five: names, types, what is required and what the
# tool does take 253. The rest tells how a place is named, which way headings turn and that points are pairs.
LONGER = {"meeting_candidates": 282}
KINDS_TAKE = 37  # what an object for each kind of location adds where each is told once


def tokens(schema: Any) -> int:
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()) // BYTES_PER_TOKEN


def brief(name: str) -> Any:
    return brief_schema(TOOLS.get(name).schema(), most_bytes=MOST_BYTES)


def native(name: str) -> Any:
    return brief_schema(TOOLS.get(name).schema(), most_bytes=MOST_BYTES, has_kinds=True)


def brief_of_before(name: str) -> Any:
    return brief_schema(TOOLS.get(name).schema(), keeps_quotes=False)


def fields_of(schema: Any) -> Iterator[tuple[str, Any]]:
    for name, part in schema.get("properties", {}).items():
        yield name, part
        yield from fields_of(part)
    if isinstance(schema.get("items"), dict):
        yield from fields_of(schema["items"])
    for kind in schema.get("anyOf", ()):
        yield from fields_of(kind)


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


@pytest.mark.parametrize("name", TOOLS.names())
def test_a_native_schema_has_an_object_for_each_kind_of_location(name: str) -> None:
    in_words, told = (
        dict(fields_of(schema["function"]["parameters"])) for schema in (brief(name), native(name))
    )
    for field, part in in_words.items():
        if "camera" in part.get("properties", {}) and "x_m" in part["properties"]:
            assert [kind["required"] for kind in told[field]["anyOf"]] == [
                ["camera"],
                ["place"],
                ["x_m", "y_m"],
            ]
            assert "one of" not in told[field].get("description", "")
    assert told.keys() == in_words.keys()
    assert tokens(native(name)) <= max(tokens(brief(name)) + KINDS_TAKE, MOST_OF_A_TOOL)


@pytest.mark.parametrize(
    ("benchmark", "most", "share"),
    [("worlds", 3_200, 0.75), ("mapeval", 800, 0.85), ("itinerary", 1_300, 0.8)],
)
def test_all_tools_of_a_benchmark_stay_within_their_sum(benchmark: str, most: int, share: float) -> None:
    names = usable_tools(BENCHMARKS.get(benchmark))
    short, whole = (sum(map(tokens, each)) for each in (map(brief, names), map(_whole, names)))
    assert short <= most
    assert short < share * whole


def _whole(name: str) -> Any:
    return TOOLS.get(name).schema()


def test_jobs_of_earlier_words_are_sent_what_they_were_and_contracts_are_of_whole_schemas() -> None:
    arm = Arm(name="tools", agent="react", tools=("distance", "forecast_arrival", "sandbox_cost"))
    in_words = arm.model_copy(update={"agent": "text-react"})
    spec = {"benchmark": "worlds", "models": [{"id": "reference"}], "arms": [arm.model_dump(mode="json")]}
    sent_by_words = (_whole, _whole, brief_of_before, brief_of_before, brief_of_before, brief, brief, native)
    for words, expected in enumerate(sent_by_words, start=1):
        job = JobSpec.model_validate({**spec, "words": words})
        now = Situation.of(arm, spec=job)
        sent = schemas_sent(arm, job, arm.toolset())  # which reports and plans count
        assert sent == shown(Toolbox(arm.toolset(), None), now).schemas
        assert sent == [expected(name) for name in arm.tools]
    assert schemas_sent(in_words, job, arm.toolset()) == [brief(name) for name in arm.tools]
    assert arm.toolset_hash == arm.model_copy().toolset_hash


def test_of_a_tool_that_is_too_long_the_forms_of_values_are_told() -> None:
    at, orders = (
        dict(fields_of(brief(name)["function"]["parameters"])) for name in ("forecast_arrival", "check_plan")
    )
    assert at["at"]["description"] == "exactly one of camera, place, or x_m with y_m"
    assert at["heading_deg"]["description"] == "clockwise from north"
    assert orders["arrive"]["description"] == "HH:MM"
    second = brief("meeting_candidates")["function"]["parameters"]["properties"]["second"]
    assert second == {"type": "object", "description": "fields as in first"}


def test_no_text_is_cut_inside_quotes() -> None:
    transport = dict(fields_of(brief("sandbox_cost")["function"]["parameters"]))["transportation"]
    assert transport["description"].startswith('"Flight Number: F…, from A to B", "Self-driving')


def test_a_servers_tool_says_what_its_author_does_however_long_it_is() -> None:
    tool = TOOLS.get("forecast_arrival")
    own, servers = (
        BriefToolbox(
            Toolbox([replace(tool, is_foreign=is_foreign)], None), is_bounded=True, has_kinds=False
        ).schemas[0]
        for is_foreign in (False, True)
    )
    assert tokens(own) <= MOST_OF_A_TOOL < tokens(servers)


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
