"""The planning agent: scripted models draft, the graph schedules, verifies, repairs, refuses and stops."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.core.trace import NoteStep, Trace
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.core.tool_turn import NO_CALLS_LEFT
from gnomon_agents.models.catalog import open_model
from gnomon_trips.service.requests import TOOLS

REQUEST = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Kiasma", "Ateneum", "Kampin kappeli"],
}
DRAFT = {
    "days": [
        {
            "visits": [
                {"place": name, "arrive": "09:00", "leave": "09:10", "why": f"see {name}"}
                for name in REQUEST["places"]
            ]
        }
    ]
}


async def plan(
    tmp_path: Path,
    replies: list[Any] | None,
    *,
    request: dict[str, Any] | None = None,
    tools: tuple[str, ...] = TOOLS,
    script: list[dict[str, Any]] | None = None,
    **arm: Any,
) -> tuple[Row, Trace]:
    """Plan a request with a scripted model, or with the reference where there are no replies."""
    options = {"replies": replies, "rules": script or []}
    model = {"id": "scripted", "options": options} if replies else {"id": "reference"}
    given = {
        "benchmark": "itinerary",
        "select": {"request": request or REQUEST},
        "models": [model],
        "arms": [{"name": "plan", "agent": "planner", "tools": list(tools), "max_tool_calls": 40, **arm}],
    }
    spec = parse_spec(given, agents=AGENTS.names())
    media = MediaStore(tmp_path)
    samples = spec.plugin().open(data=None, select=spec.select, protocol="guarded", media=media)
    trial = next(iter(expand_trials("j", spec, samples.refs)))
    return await run_trial(
        trial,
        bench=JobContext(spec=spec, benchmark=spec.plugin(), media=media),
        sample=lambda: samples.get("request"),
        agent=AGENTS.get("planner"),
        model=open_model(spec.models[0], media),
    )


def called(trace: Trace) -> list[str]:
    return [step.name for step in trace.tool_steps]


async def test_a_rough_draft_becomes_a_plan_that_passes(tmp_path: Path) -> None:
    row, trace = await plan(tmp_path, [json.dumps(DRAFT)])
    assert (row.outcome, row.score) == (Outcome.SCORED, 1.0)
    assert called(trace) == ["order_visits", "check_plan"]
    visits = json.loads(row.answer or "")["plan"]["days"][0]["visits"]
    assert {visit["why"] for visit in visits} == {f"see {name}" for name in REQUEST["places"]}


async def test_without_a_scheduler_faults_go_back_to_the_model_three_times_at_most(tmp_path: Path) -> None:
    tools = ("check_plan", "place_details")
    row, trace = await plan(tmp_path, [json.dumps(DRAFT)], tools=tools)
    assert row.score == 0.0
    assert called(trace) == ["check_plan"] * 4
    assert len(trace.replies) == 4
    assert "OPEN_HOURS" in row.flags


async def test_a_repaired_plan_goes_out(tmp_path: Path) -> None:
    mended = {
        "days": [
            {
                "visits": [
                    {"place": "Kampin kappeli", "arrive": "09:10", "leave": "09:45"},
                    {"place": "Kiasma", "arrive": "10:00", "leave": "11:30"},
                    {"place": "Ateneum", "arrive": "11:45", "leave": "13:15"},
                ]
            }
        ]
    }
    row, trace = await plan(tmp_path, ["hm", json.dumps(mended)], tools=("check_plan",))
    assert (row.score, len(trace.replies)) == (1.0, 2)


async def test_the_best_draft_stands_when_repairs_make_it_worse(tmp_path: Path) -> None:
    late = json.loads(json.dumps(DRAFT))
    late["days"][0]["visits"] = [{"place": "Kiasma", "arrive": "11:00", "leave": "12:30"}]
    row, _ = await plan(tmp_path, [json.dumps(late), "no more ideas"], tools=("check_plan",))
    assert row.flags == ("MUST_VISIT",)


async def test_days_that_cannot_be_kept_are_shared_out_anew(tmp_path: Path) -> None:
    request = {**REQUEST, "days": 2, "window": {"start": "10:00", "end": "13:45"}}
    row, trace = await plan(tmp_path, [json.dumps(DRAFT)], request=request)
    assert (row.score, len(trace.replies)) == (1.0, 1)
    days = json.loads(row.answer or "")["plan"]["days"]
    assert [len(day["visits"]) for day in days] == [1, 2] or [len(day["visits"]) for day in days] == [2, 1]


async def test_a_refusal_of_what_can_be_done_becomes_a_plan(tmp_path: Path) -> None:
    refusal = json.dumps({"status": "refused", "conflict": ["window"]})
    row, _ = await plan(tmp_path, [refusal])
    assert (row.score, json.loads(row.answer or "")["plan"]["status"]) == (1.0, "planned")


async def test_a_plan_of_what_cannot_be_done_becomes_a_proven_refusal(tmp_path: Path) -> None:
    row, _ = await plan(tmp_path, [json.dumps(DRAFT)], request={**REQUEST, "start_date": "2026-06-08"})
    told = json.loads(row.answer or "")["plan"]
    assert (row.score, told["status"]) == (1.0, "refused")
    assert told["conflict"] in (["hours:Kiasma"], ["hours:Ateneum"])


async def test_made_up_places_are_left_out_where_the_scheduler_plans_anew(tmp_path: Path) -> None:
    draft = json.loads(json.dumps(DRAFT))
    draft["days"][0]["visits"].append({"place": "Atlantis", "arrive": "09:00", "leave": "09:10"})
    row, _ = await plan(tmp_path, [json.dumps(draft)])
    made = json.loads(row.answer or "")["plan"]
    assert (row.score, [one["place"] for one in made["skipped"]]) == (1.0, ["Atlantis"])


async def test_a_request_with_no_place_that_is_found_is_refused_before_the_model_is_asked(
    tmp_path: Path,
) -> None:
    request = {**REQUEST, "places": ["Atlantis"]}
    row, trace = await plan(tmp_path, ["never asked"], request=request)
    assert not trace.replies
    told = json.loads(row.answer or "")["plan"]
    assert (told["status"], told["conflict"]) == ("refused", ["place:Atlantis"])
    assert "nothing is called 'Atlantis'" in told["assumptions"][0]


async def test_used_up_tool_calls_leave_a_plan(tmp_path: Path) -> None:
    call = {"tool_calls": [{"name": "place_details", "arguments": {"place": "Kiasma"}}]}
    row, trace = await plan(tmp_path, [call, call, json.dumps(DRAFT)], max_tool_calls=2)
    assert row.outcome is Outcome.SCORED
    assert len(trace.tool_steps) == 2
    assert row.answer


async def test_the_model_is_told_that_calls_are_used_up_before_its_last_turn(tmp_path: Path) -> None:
    call = {"tool_calls": [{"name": "place_details", "arguments": {"place": "Kiasma"}}]}
    script = [{"contains": NO_CALLS_LEFT, "replies": ["-", json.dumps(DRAFT)]}]
    row, trace = await plan(tmp_path, [call, "never told"], script=script, max_tool_calls=1)
    assert [reply.text for reply in trace.replies] == ["", json.dumps(DRAFT)]
    assert row.answer


async def test_used_up_turns_leave_the_best_draft(tmp_path: Path) -> None:
    row, trace = await plan(tmp_path, [json.dumps(DRAFT)], tools=("check_plan",), max_turns=2)
    assert len(trace.replies) == 2
    assert row.answer
    assert any(isinstance(step, NoteStep) and "best draft" in step.text for step in trace.steps)


async def test_a_model_that_never_answers_in_json_has_answered_nothing(tmp_path: Path) -> None:
    row, _ = await plan(tmp_path, ["Helsinki is lovely in June."])
    assert (row.outcome, row.score, row.answer) == (Outcome.MODEL_FAILED, 0.0, None)


@pytest.mark.parametrize("days", [1, 3])
async def test_the_reference_plans_wishes_and_meals_without_a_key(days: int, tmp_path: Path) -> None:
    request = {
        **REQUEST,
        "days": days,
        "start_date": "2026-06-11",
        "wishes": ["park"],
        "meals": [{"start": "11:30", "end": "15:00", "minutes": 45}],
        "window": {"start": "09:00", "end": "20:00"},
    }
    row, trace = await plan(tmp_path, None, request=request, max_tool_calls=60)
    assert (row.score, set(row.flags) - {"unchecked:OPEN_HOURS"}) == (1.0, set())
    assert called(trace)[-1] == "check_plan"
    made = json.loads(row.answer or "")["plan"]
    assert len(made["days"]) == days
    kinds = [visit["place"]["kind"] for day in made["days"] for visit in day["visits"]]
    assert "park" in kinds


@pytest.mark.parametrize("places", [[], ["Kiasma"]])
async def test_wishes_are_met_without_a_hotel_and_even_without_a_place(
    places: list[str], tmp_path: Path
) -> None:
    request = {
        "area": "helsinki",
        "start_date": "2026-06-10",
        "days": 2,
        "places": places,
        "wishes": ["museum"],
    }
    row, _ = await plan(tmp_path, None, request=request, max_tool_calls=60)
    assert (row.score, set(row.flags) - {"unchecked:OPEN_HOURS"}) == (1.0, set())
    assert all(day["visits"] for day in json.loads(row.answer or "")["plan"]["days"])


async def test_the_reference_proves_that_a_closed_museum_cannot_be_seen(tmp_path: Path) -> None:
    row, _ = await plan(tmp_path, None, request={**REQUEST, "start_date": "2026-06-08"})
    assert row.score == 1.0
    assert row.metrics["conflict_proven"] == 1.0


async def test_the_same_request_gives_the_same_bytes(tmp_path: Path) -> None:
    """The one figure that may differ is how long the search took: a busy machine takes longer."""
    first, second = [(await plan(tmp_path, None))[0].answer or "" for _ in range(2)]
    took = re.compile(r'"seconds": ?[\d.]+')
    assert took.search(first)
    assert json.loads(first)["plan"]["search"]["is_cut"] is False
    assert took.sub("", first) == took.sub("", second)
