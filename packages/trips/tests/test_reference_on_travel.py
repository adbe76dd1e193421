"""The reference model on TravelPlanner's tasks: by the scheduler, and greedily with and without a check."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.model import Request
from gnomon.core.sample import SHOWABLE, Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_trips.benchmarks.travelplanner import travelplanner
from gnomon_trips.sandbox.record import TravelSandbox
from tests.published_trips import written

SEARCHES = ("attractions", "contents", "lodgings", "restaurants", "ways")


@pytest.fixture
def samples(tmp_path: Path) -> dict[str, Sample]:
    opened = travelplanner.open(
        data=written(tmp_path), select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    return {ref.sample_id: opened.get(ref.sample_id) for ref in opened.refs}


def answered(sample: Sample, *tools: str, facts: bool = False) -> tuple[float | None, list[str]]:
    """The score of the reference with these tools, and the tools it called."""
    box = Toolbox(
        [TOOLS.get(f"sandbox_{name}") for name in tools],
        ToolContext(inputs=held(sample.find(TravelSandbox))),
    )
    model = ReferenceModel(ModelSpec(id="reference"))
    messages: list[Any] = list(sample.messages((*SHOWABLE, "facts") if facts else SHOWABLE))
    called: list[str] = []
    for _ in range(12):
        reply = asyncio.run(model.reply(Request(messages=messages, tools=box.schemas)))
        messages.append({"role": "assistant", "content": reply.text, "tool_calls": list(reply.tool_calls)})
        for call in reply.tool_calls:
            name = call["function"]["name"]
            called.append(name)
            observation = box.call(name, call["function"]["arguments"])
            assert observation.error is None, observation.content
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": observation.content})
        if not reply.tool_calls:
            return travelplanner.score(sample, reply.text or "", scoring="strict").value, called
    raise AssertionError("it never answers")


@pytest.mark.parametrize("number", ["1", "2"])
def test_the_scheduler_is_asked_once_and_its_plan_passes(samples: dict[str, Sample], number: str) -> None:
    assert answered(samples[number], *SEARCHES, "schedule") == (1.0, ["sandbox_schedule"])


@pytest.mark.parametrize("number", ["1", "2"])
def test_greedy_plans_fail_and_a_check_mends_them(samples: dict[str, Sample], number: str) -> None:
    assert answered(samples[number], facts=True) == (0.0, [])
    value, called = answered(samples[number], *SEARCHES)
    assert value == 0.0
    assert {f"sandbox_{name}" for name in SEARCHES} == set(called)
    value, called = answered(samples[number], *SEARCHES, "check")
    assert value == 1.0
    assert called.count("sandbox_check") >= 2


def test_without_anything_it_says_that_it_finds_no_plan(samples: dict[str, Sample]) -> None:
    assert answered(samples["1"]) == (0.0, [])


def test_each_tool_answers_and_refuses_in_words(samples: dict[str, Sample]) -> None:
    context = ToolContext(inputs=held(samples["1"].find(TravelSandbox)))
    box = Toolbox([tool for tool in TOOLS if tool.needs is TravelSandbox], context)
    ways = {"origin": "Amberlow", "destination": "Brine", "date": "2022-03-01"}
    result = json.loads(box.call("sandbox_ways", json.dumps(ways)).content)
    assert [flight["number"] for flight in result["flights"]] == ["F1000001"]
    assert [ride["price_usd"] for ride in result["rides"]] == [30, 300]
    plan = {"plan": samples["1"].target["task"].people_plan}
    assert json.loads(box.call("sandbox_cost", json.dumps(plan)).content)["total_usd"] == 460
    assert json.loads(box.call("sandbox_check", json.dumps(plan)).content)["keeps_every_rule"] is True
    unknown = box.call("sandbox_lodgings", '{"city": "Nowhere"}')
    assert unknown.error == "tool_error"
    assert "Brine" in unknown.content
    bad_date = box.call("sandbox_ways", json.dumps({**ways, "date": "2022-13-01"}))
    assert bad_date.error == "tool_error"
    tight = {
        "origin": "Amberlow",
        "destination": "Brine",
        "cities": 1,
        "days": 3,
        "start_date": "2022-03-01",
        "people": 1,
        "budget_usd": 100,
    }
    refusal = json.loads(box.call("sandbox_schedule", json.dumps(tight)).content)
    assert (refusal["status"], refusal["proof_error"]) == ("infeasible", 0)
    assert "the cheapest trip costs" in refusal["reason"]
