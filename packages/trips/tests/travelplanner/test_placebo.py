"""A placebo answers from another task's places, so that what it plans does not hold."""

import json
from pathlib import Path
from typing import Any

from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.trials.blind_placebo import BlindPlacebo
from gnomon.trials.donors import Donors
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS
from gnomon_trips.benchmarks.travelplanner import travelplanner
from gnomon_trips.sandbox.record import TravelSandbox
from gnomon_trips.sandbox.rules import judge
from gnomon_trips.sandbox.scheduler import find_trip
from gnomon_trips.sandbox.stand_in_sandbox import stand_in_sandbox
from tests.published_trips import EASY, city, rows, ways, written

DOVER = {
    **city("Dover"),
    **ways("Amberlow", "Dover", "2022-03-01", "F2000001"),
    **ways("Dover", "Amberlow", "2022-03-03", "F2000002"),
}
OTHER: dict[str, Any] = {
    **rows()[0],
    "idx": 3,
    "query": EASY.replace("Brine", "Dover"),
    "reference_information": DOVER,
}
NEUTRAL = '{"result": null}'
CALL = {
    "origin": "Amberlow",
    "destination": "Brine",
    "cities": 1,
    "days": 3,
    "start_date": "2022-03-01",
    "people": 1,
    "budget_usd": 1000,
}


def opened(tmp_path: Path, *more: dict[str, Any]) -> tuple[Sample, Donors]:
    samples = travelplanner.open(
        data=written(tmp_path, *more),
        select=Select(),
        protocol="guarded",
        media=MediaStore(tmp_path / "media"),
    )
    sample = samples.get("1")
    return sample, Donors(sample, samples, seed=1)


def scheduled(sample: Sample, donors: Donors) -> tuple[dict[str, Any], str | None]:
    context = ToolContext(inputs=held(sample.find(TravelSandbox)))
    box = BlindPlacebo((TOOLS.get("sandbox_schedule"),), context, donors=donors, seed=1, neutral=NEUTRAL)
    observation = box.call("sandbox_schedule", json.dumps(CALL))
    return json.loads(observation.content), observation.injected


def test_the_scheduler_plans_with_the_other_tasks_places(tmp_path: Path) -> None:
    sample, donors = opened(tmp_path, OTHER)
    result, injected = scheduled(sample, donors)
    assert injected == "other_scene"
    assert result["status"] == "planned"
    assert sample.find(TravelSandbox) is not None
    assert "in_sandbox" in judge(result["plan"], sample.find(TravelSandbox)).faults


def test_without_another_task_the_result_says_nothing(tmp_path: Path) -> None:
    result, injected = scheduled(*opened(tmp_path))
    assert "plan" not in result
    assert injected == "neutral"


def test_a_stand_in_keeps_cities_and_dates_and_plans_nothing_that_holds(tmp_path: Path) -> None:
    sample, donors = opened(tmp_path, OTHER)
    other = donors.first()
    assert other is not None
    own, others = sample.find(TravelSandbox), other.find(TravelSandbox)
    assert own is not None
    assert others is not None
    stand_in = stand_in_sandbox(own, others)
    assert (stand_in.cities, stand_in.needs) == (own.cities, own.needs)
    assert {flight.date for flight in stand_in.flights} == {flight.date for flight in own.flights}
    found = find_trip(stand_in)
    assert found.days is not None
    assert not judge(found.days, own).final_pass


def test_a_verdict_is_on_another_plan(tmp_path: Path) -> None:
    sample, donors = opened(tmp_path, OTHER)
    context = ToolContext(inputs=held(sample.find(TravelSandbox)))
    tools = tuple(TOOLS.get(name) for name in ("sandbox_check", "sandbox_cost"))
    box = BlindPlacebo(tools, context, donors=donors, seed=1, neutral=NEUTRAL)
    empty = {"days": 1, "current_city": "Nowhere"}
    verdicts = [
        json.loads(
            box.call("sandbox_check", json.dumps({"plan": [{**empty, "breakfast": f"{n}, X"}]})).content
        )
        for n in range(12)
    ]
    assert "complete" not in {row["rule"] for row in verdicts[0]["broken"]}
    assert {verdict["keeps_every_rule"] for verdict in verdicts} == {True, False}
    cost = json.loads(box.call("sandbox_cost", json.dumps({"plan": [empty]})).content)
    assert cost["total_usd"] > 0  # of the other plan: nothing in this one has a price
