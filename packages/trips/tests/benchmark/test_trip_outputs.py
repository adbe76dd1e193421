"""A planned trip for people and programs: the same bytes every time, and nothing from outside unescaped."""

import json
from dataclasses import replace

import icalendar
import pytest

from gnomon.core.errors import DataError, SpecError
from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.export.outputs import MEDIA_TYPES, ending_of, rendered
from gnomon_trips.export.result import TripResult, result_of
from gnomon_trips.itinerary.draft import DraftPlan
from gnomon_trips.itinerary.problem import problem_of
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.solve import draft_of, solve

REQUEST = {
    "area": "helsinki",
    "start_date": "2026-06-11",
    "days": 2,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex", "Kampin kappeli"],
}


@pytest.fixture(scope="module")
def result() -> TripResult:
    task = request_task(REQUEST)
    problem = answered(problem_of(task.trip), is_local=True)
    rounds = solve(problem, fair=True).rounds
    assert rounds is not None
    told = score(task, draft_of(problem, rounds).model_dump_json())
    assert told.value == 1.0
    return result_of(told.answer)


@pytest.mark.parametrize("ending", MEDIA_TYPES)
def test_the_same_result_gives_the_same_bytes(result: TripResult, ending: str) -> None:
    assert rendered(result, ending) == rendered(result, ending)


def test_the_calendar_holds_each_visit_at_its_time(result: TripResult) -> None:
    calendar = icalendar.Calendar.from_ical(rendered(result, ".ics").decode())
    events = {str(event["summary"]): event for event in calendar.walk("VEVENT")}
    assert set(events) == set(REQUEST["places"])
    visit = result.plan.days[0].visits[0]
    begin = events[visit.place.name].decoded("dtstart")
    assert f"{begin:%H:%M}" == visit.arrive
    assert begin.date() == result.plan.days[0].date
    assert len({str(event["uid"]) for event in events.values()}) == 4


def test_the_map_data_follow_the_streets_from_stop_to_stop(result: TripResult) -> None:
    data = json.loads(rendered(result, ".geojson"))
    lines = [one for one in data["features"] if one["geometry"]["type"] == "LineString"]
    points = [one for one in data["features"] if one["properties"].get("role") == "visit"]
    assert len(lines) == sum(len(day.legs) for day in result.plan.days)
    assert len(points) == 4
    assert max(len(line["geometry"]["coordinates"]) for line in lines) > 10
    assert all(
        24.9 < lon < 25.0 and 60.1 < lat < 60.2
        for line in lines
        for lon, lat in line["geometry"]["coordinates"]
    )
    assert any("OpenStreetMap" in line for line in data["attribution"])


def test_the_page_has_a_map_and_a_timeline_a_day_and_names_its_sources(result: TripResult) -> None:
    page = rendered(result, ".html").decode()
    assert page.count('class="trip-lane ') == 2
    assert page.count('class="trip-map"') == 3, "one of all days, and one of each"
    assert "checks hold." in page
    assert "OpenStreetMap contributors" in page
    assert "<script" not in page
    for place in REQUEST["places"]:
        assert place in page


def test_whatever_a_model_writes_is_escaped(result: TripResult) -> None:
    days = list(result.plan.days)
    visit = days[0].visits[0].model_copy(update={"why": '<img src=x onerror="alert(1)">|*'})
    days[0] = days[0].model_copy(update={"visits": (visit, *days[0].visits[1:])})
    evil = replace(result, plan=result.plan.model_copy(update={"days": tuple(days)}))
    assert "<img" not in rendered(evil, ".html").decode()
    assert "<img" not in rendered(evil, ".md").decode().replace("\\<", "")


def test_a_refusal_says_what_stands_against_it() -> None:
    task = request_task({**REQUEST, "start_date": "2026-06-08", "days": 1})
    refusal = DraftPlan(status="refused", conflict=["hours:Ateneum"])
    told = score(task, refusal.model_dump_json())
    assert (told.value, told.metrics["conflict_proven"]) == (1.0, 1.0)
    text = rendered(result_of(told.answer), ".md").decode()
    assert "Ateneum, Monday 08 June 2026: closed" in text


def test_faults_are_told_and_never_called_a_plan_that_holds() -> None:
    task = request_task(REQUEST)
    told = score(task, json.dumps({"days": [{"visits": []}, {"visits": []}]}))
    result = result_of(told.answer)
    assert {one["code"] for one in result.errors} == {"MUST_VISIT"}
    assert "2 days in Helsinki: " in rendered(result, ".html").decode()
    assert "Ateneum is not visited; and 3 more; 1 could not be checked." in rendered(result, ".html").decode()


def test_a_row_without_a_plan_and_an_unknown_form_are_refused() -> None:
    with pytest.raises(DataError, match="no plan was made"):
        result_of(None)
    with pytest.raises(SpecError, match=r"allowed: \.json"):
        ending_of("trip.pdf")


def test_control_characters_of_a_name_are_in_no_calendar(result: TripResult) -> None:
    plan = result.plan.model_dump(mode="json")
    plan["days"][0]["visits"][0]["place"]["name"] = "a\x00\x07b"
    marked = replace(
        result, plan=type(result.plan).model_validate(plan), request={**result.request, "area": "a\nb"}
    )
    text = rendered(marked, ".ics").decode()
    assert not {"\x00", "\x07"} & set(text)
    assert "SUMMARY:ab" in text


@pytest.mark.parametrize("mark", ["~~~", "&lt;"])
def test_a_reason_opens_no_block_and_is_no_entity_of_markdown(result: TripResult, mark: str) -> None:
    plan = result.plan.model_dump(mode="json")
    plan["assumptions"] = [f"{mark} words"]
    text = rendered(replace(result, plan=type(result.plan).model_validate(plan)), ".md").decode()
    assert f"- {mark}" not in text
    assert f"\\{mark[0]}" in text
