"""The steps beside the plan: selection, recommendation and guide, each by a model and by the reference."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.row import Row
from gnomon.core.trace import NoteStep, Trace
from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.service.requests import TOOLS
from packages.trips.tests.agent.test_planner import plan

PLACES = ["Kiasma", "Ateneum", "Kampin kappeli", "Helsinki Cathedral"]
REQUEST: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": PLACES,
    "window": {"start": "09:00", "end": "19:00"},
}
SEARCH = {"tool_calls": [{"name": "plan_trip", "arguments": {}}]}


def of(row: Row) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(row.answer or "")["plan"]
    return made


def names(made: dict[str, Any]) -> set[str]:
    return {visit["place"]["name"] for day in made["days"] for visit in day["visits"]}


def notes(trace: Trace) -> str:
    return "\n".join(step.text for step in trace.steps if isinstance(step, NoteStep))


def drafted(*places: str) -> str:
    visits = [{"place": name, "arrive": "09:00", "leave": "09:10"} for name in places]
    return json.dumps({"days": [{"visits": visits}]})


async def scripted(
    tmp_path: Path, request: dict[str, Any], rules: dict[str, list[Any]], replies: list[Any], **arm: Any
) -> tuple[Row, Trace]:
    """Plan with a model that answers the questions of the steps by their marks."""
    script = [{"contains": mark, "replies": texts} for mark, texts in rules.items()]
    return await plan(tmp_path, [*replies], request=request, script=script, **arm)


async def test_the_model_chooses_which_places_there_is_room_for(tmp_path: Path) -> None:
    request = {**REQUEST, "max_places": 2, "preferences": {"must_see": ["Kampin kappeli"]}}
    rules = {"SELECT:": [json.dumps({"places": ["Kampin kappeli", "Ateneum"]})]}
    row, trace = await scripted(tmp_path, request, rules, [drafted("Ateneum", "Kampin kappeli")])
    made = of(row)
    assert (row.score, names(made)) == (1.0, {"Kampin kappeli", "Ateneum"})
    assert {left["place"] for left in made["skipped"]} == {"Kiasma", "Helsinki Cathedral"}
    assert all("max_places leaves room for 2 of 4" in left["reason"] for left in made["skipped"])
    assert "by the model; cut: " in notes(trace)
    assert row.metrics["selection_must_see_kept"] == 1.0
    assert 0.0 < (row.metrics["selection_fame_kept"] or 0.0) <= 1.0  # type: ignore[operator]


@pytest.mark.parametrize("reply", ["I like them all.", json.dumps({"places": ["Atlantis", 7]})])
async def test_a_choice_that_is_none_is_made_by_importance(reply: str, tmp_path: Path) -> None:
    request = {**REQUEST, "max_places": 1, "preferences": {"must_see": ["Kampin kappeli"]}}
    row, trace = await scripted(tmp_path, request, {"SELECT:": [reply]}, [drafted("Kampin kappeli")])
    assert (row.score, names(of(row))) == (1.0, {"Kampin kappeli"})
    assert "by importance" in notes(trace)


async def test_the_reference_cuts_by_must_see_and_fame(tmp_path: Path) -> None:
    request = {
        "area": "japan",
        "start_date": "2026-06-10",
        "days": 2,
        "mode": "rail",
        "places": ["Ueno Station", "Tokyo Tower", "Senso-ji Temple", "Shibuya Crossing"],
        "places_a_day": 1,
        "preferences": {"must_see": ["Ueno Station"]},
    }
    row, _ = await plan(tmp_path, None, request=request)
    made = of(row)
    assert row.score == 1.0
    assert "Ueno" in str(names(made))
    assert len(names(made)) == 2
    assert len(made["skipped"]) == 2
    assert all("places_a_day leaves room for 2 of 4" in left["reason"] for left in made["skipped"])


async def test_whoever_visits_more_than_there_is_room_for_has_faults(tmp_path: Path) -> None:
    request = {**REQUEST, "max_places": 2}
    row, _ = await scripted(tmp_path, request, {}, [drafted(*PLACES)], tools=("place_details",))
    assert "SKIPPED" in row.flags


async def test_a_meal_is_recommended_by_the_model_among_what_is_known_around(tmp_path: Path) -> None:
    request = {**REQUEST, "places": ["Kiasma", "Ateneum"], "meals": [{"name": "lunch"}], "recommend": True}
    tools = tuple(tool for tool in TOOLS if tool != "plan_trip")
    row, trace = await scripted(tmp_path, request, {}, [drafted("Kiasma", "Ateneum")], tools=tools)
    assert "nothing known for lunch" in notes(trace) or "MEAL_WINDOW" in row.flags
    question = next(step for step in trace.tool_steps if step.name == "places_near")
    nearest = json.loads(question.observation)["hits"][0]["id"]
    pick = {"for": "lunch, day 1", "place": nearest, "why": "the nearest"}
    rules = {"RECOMMEND:": [json.dumps({"picks": [{"for": "dinner, day 9"}, "soup", pick]})]}
    row, trace = await scripted(tmp_path, request, rules, [drafted("Kiasma", "Ateneum")], tools=tools)
    made = of(row)
    (told,) = made["recommendations"]
    assert (told["place"]["id"], told["by"], told["purpose"], told["why"]) == (
        nearest,
        "model",
        "lunch",
        "the nearest",
    )
    assert told["price"] == "not known"
    assert len(told["alternatives"]) == 3
    assert nearest in {visit["place"]["id"] for visit in made["days"][0]["visits"]}
    assert row.metrics["recommended_in_plan"] == row.metrics["recommended_of_kind"] == 1.0


async def test_the_planners_meals_and_beds_come_with_alternatives(tmp_path: Path) -> None:
    request = {
        key: value for key, value in REQUEST.items() if key != "hotel"
    } | {"days": 2, "meals": [{"name": "lunch"}], "recommend": True, "guide": True}  # fmt: skip
    row, _ = await plan(tmp_path, None, request=request, max_tool_calls=60)
    made = of(row)
    purposes = [(pick["day"], pick["purpose"], pick["by"]) for pick in made["recommendations"]]
    assert sorted(purposes) == [(1, "lunch", "planner"), (1, "night", "planner"), (2, "lunch", "planner")]
    assert all(pick["alternatives"] for pick in made["recommendations"])
    assert row.metrics["recommended_within_reach"] == 1.0
    assert [day["day"] for day in made["guide"]] == [1, 2]
    assert (row.metrics["guide_true"], row.metrics["guide_cut"]) == (1.0, 0.0)
    assert (row.metrics["guide_claims"] or 0) >= 10  # type: ignore[operator]


LIES = {
    "guide": [
        {
            "day": 1,
            "intro": "A day of art. You walk 60 km in all.",
            "stops": [
                {"place": "helsinki/w8042215", "text": "It opens at 05:00. The light is worth the way."}
            ],
            "notes": ["Ateneum closes at 09:00."],
        }
    ]
}


async def test_false_sentences_go_back_once_then_they_are_cut_and_counted(tmp_path: Path) -> None:
    request = {**REQUEST, "places": ["Kiasma", "Ateneum"], "guide": True}
    rules = {"GUIDE:": [json.dumps(LIES)]}
    row, trace = await scripted(tmp_path, request, rules, [drafted("Kiasma", "Ateneum")])
    (told,) = of(row)["guide"]
    assert (row.score, row.flags, told["cut"], told["intro"]) == (1.0, (), 3, "A day of art.")
    assert told["stops"][0]["text"] == "The light is worth the way."
    assert told["notes"] == []
    assert sum("guide" in reply.text for reply in trace.replies) == 2
    assert row.metrics["guide_cut"] == 3.0


async def test_a_guide_that_nobody_checks_is_judged_by_the_scorer(tmp_path: Path) -> None:
    request = {**REQUEST, "places": ["Kiasma", "Ateneum"], "guide": True}
    rules = {"GUIDE:": [json.dumps(LIES)]}
    tools = ("order_visits", "place_details")
    row, _ = await scripted(tmp_path, request, rules, [drafted("Kiasma", "Ateneum")], tools=tools)
    assert row.metrics["guide_false"] == 1.0
    assert row.flags == ("WHY",)


@pytest.mark.parametrize("reply", ["Helsinki is lovely.", '{"guide": [{"day": 9}, 7]}'])
async def test_a_guide_that_is_none_leaves_the_plan(reply: str, tmp_path: Path) -> None:
    request = {**REQUEST, "places": ["Kiasma", "Ateneum"], "guide": True}
    row, _ = await scripted(tmp_path, request, {"GUIDE:": [reply]}, [drafted("Kiasma", "Ateneum")])
    assert (row.score, of(row)["guide"], row.metrics["guide_days"]) == (1.0, [], 0.0)


async def test_the_guide_is_written_in_the_language_of_the_names(tmp_path: Path) -> None:
    request = {
        "area": "japan",
        "start_date": "2026-06-10",
        "mode": "rail",
        "places": ["東京タワー", "浅草寺"],
        "guide": True,
    }
    row, _ = await plan(tmp_path, None, request=request)
    (told,) = of(row)["guide"]
    assert told["language"] == "ja"
    assert "到着" in told["stops"][0]["text"]
    assert row.metrics["guide_true"] == 1.0


async def test_time_is_kept_free_to_eat_where_nowhere_to_eat_is_known(tmp_path: Path) -> None:
    request = {
        "area": "japan",
        "start_date": "2026-06-10",
        "days": 2,
        "mode": "rail",
        "places": ["Tokyo Tower", "Senso-ji Temple", "Shibuya Crossing"],
        "meals": [{"name": "lunch"}],
    }
    row, _ = await plan(tmp_path, None, request=request)
    made = of(row)
    assert (row.score, made["status"]) == (1.0, "planned")
    free = [
        visit["place"]
        for day in made["days"]
        for visit in day["visits"]
        if visit["place"]["kind"] == "kept_free"
    ]
    assert free
    assert all(any(place["name"] in line for line in made["assumptions"]) for place in free)
    missing = [
        entry["path"] for entry in json.loads(row.answer or "")["unchecked"] if entry["code"] == "MEAL_WINDOW"
    ]
    assert len(missing) == len(free)


async def test_time_kept_free_beside_a_restaurant_is_a_fault(tmp_path: Path) -> None:
    request = {**REQUEST, "places": ["Kiasma"], "meals": [{"name": "lunch"}]}
    visits = [
        {"place": "Kiasma", "arrive": "10:10", "leave": "11:40"},
        {"place": "free:1:helsinki/w8042215", "arrive": "11:45", "leave": "12:45"},
    ]
    row, _ = await scripted(
        tmp_path, request, {}, [json.dumps({"days": [{"visits": visits}]})], tools=("travel",)
    )
    assert "MEAL_WINDOW" in row.flags


@pytest.mark.parametrize("place", [["a"], {}, None, 5])
async def test_a_pick_that_is_no_name_is_none(place: object, tmp_path: Path) -> None:
    request = {**REQUEST, "places": ["Kiasma", "Ateneum"], "meals": [{"name": "lunch"}], "recommend": True}
    tools = tuple(tool for tool in TOOLS if tool != "plan_trip")
    rules = {"RECOMMEND:": [json.dumps({"picks": [{"for": "lunch, day 1", "place": place}]})]}
    row, _ = await scripted(tmp_path, request, rules, [drafted("Kiasma", "Ateneum")], tools=tools)
    assert row.stop_reason == "answered"


async def test_a_place_to_be_seen_that_is_not_asked_for_is_named(tmp_path: Path) -> None:
    row, _ = await plan(tmp_path, None, request={**REQUEST, "preferences": {"must_see": ["Amos Rex"]}})
    assert row.stop_reason == "data"
    assert "preferences.must_see: 'Amos Rex' is none of the places" in row.error


@pytest.mark.parametrize("name", ["  ", "***", "👨"])
async def test_a_name_without_a_letter_is_a_place_that_is_not_known(name: str, tmp_path: Path) -> None:
    row, _ = await plan(tmp_path, None, request={**REQUEST, "places": ["Kiasma", name]})
    assert row.score == 1.0
    assert [left["place"] for left in of(row)["skipped"]] == [name]


async def test_a_city_without_any_place_of_a_wish_is_no_fault_of_ours(tmp_path: Path) -> None:
    request = {"area": "world", "start_date": "2026-06-10", "wishes": ["museum"]}
    row, _ = await plan(tmp_path, None, request=request)
    assert not row.stop_reason.startswith("internal")


@pytest.mark.parametrize("date", ["0001-01-01", "9999-12-31"])
def test_dates_whose_neighbours_do_not_exist_are_refused(date: str) -> None:
    with pytest.raises(BadArgument, match="start_date"):
        read_request({**REQUEST, "start_date": date})
