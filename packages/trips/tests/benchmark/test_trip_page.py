"""What a page shows of a trip: each check at its place, each fault where it is, nothing that CSP forbids."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.export.checks import checks_of, faults_of
from gnomon_trips.export.day_lane import EDGE, day_lane
from gnomon_trips.export.outputs import rendered
from gnomon_trips.export.result import TripResult, result_of
from gnomon_trips.export.trip_view import trip_view
from gnomon_trips.itinerary.plan import Plan, Skipped
from gnomon_trips.itinerary.verify.check_kinds import check_kinds
from gnomon_trips.itinerary.verify.violation import Violation

REQUEST: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-11",
    "days": 2,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kampin kappeli", "Kiasma"],
    "window": {"start": "09:00", "end": "21:00"},
    "meals": [{"end": "15:00"}],
}
ATENEUM, CHAPEL, KIASMA = "helsinki/w8033120", "helsinki/w185401488", "helsinki/w8042215"
LUNCH = "helsinki/n4749101640"


def planned(visits: list[list[tuple[str, str, str]]], **request: Any) -> TripResult:
    """The verified plan of visits (place, arrive, leave) day by day."""
    keys = ("place", "arrive", "leave")
    draft = {"days": [{"visits": [dict(zip(keys, visit, strict=True)) for visit in day]} for day in visits]}
    return result_of(score(request_task({**REQUEST, **request}), json.dumps(draft)).answer)


@pytest.fixture(scope="module")
def late() -> TripResult:
    """On the second day Ateneum, which closes at 18:00, is reached at 18:20; nobody eats on that day."""
    return planned(
        [
            [(CHAPEL, "09:30", "10:00"), (KIASMA, "10:10", "11:40"), (LUNCH, "12:00", "13:00")],
            [(ATENEUM, "18:20", "19:50")],
        ]
    )


def page_of(result: TripResult) -> str:
    return rendered(result, ".html").decode()


def with_faults(result: TripResult, *faults: Violation) -> TripResult:
    keys = ("code", "severity", "path", "expected", "found", "evidence")
    return replace(result, violations=tuple({key: getattr(fault, key) for key in keys} for fault in faults))


def group_of(page: str, level: str) -> str:
    return page.split(f'<h3 id="checks-{level}">')[1].split("</section>")[0]


def group_of_conflict(page: str) -> str:
    return page.split('<h2 id="trip-conflict">')[1].split("</section>")[0]


def row_of(page: str, anchor: str) -> str:
    return page.split(f'<tr id="{anchor}"')[1].split("</tr>")[0]


@pytest.mark.parametrize("code", check_kinds())
def test_each_check_is_on_the_page_once_and_in_the_group_of_its_level(late: TripResult, code: str) -> None:
    page = page_of(late)
    assert page.count(f'data-check="{code}"') == 1
    assert f'data-check="{code}"' in group_of(page, check_kinds()[code].level)


def test_the_headline_counts_the_checks_and_names_what_fails_first(late: TripResult) -> None:
    assert trip_view(late)["answer"] == (
        "2 days in Helsinki: 29 of 32 checks hold; 2 fail: "
        "Ateneum closes 18:00, you arrive 18:20; and 1 more; 1 could not be checked."
    )
    states = [check.state for check in checks_of(late, faults_of(late))]
    assert (states.count("holds"), states.count("fails"), states.count("unchecked")) == (29 + 2, 2, 1), (
        "remarks that are not made hold, and are not counted"
    )


def test_a_failing_stop_is_marked_on_lane_and_map_and_its_row_says_why(late: TripResult) -> None:
    page = page_of(late)
    assert "Ateneum closes 18:00, you arrive 18:20" in row_of(page, "stop-2-1")
    assert "✕" not in row_of(page, "stop-1-2")
    assert page.count('class="trip-outline"') == 1
    assert page.count('class="trip-ring"') == 2, "on the map of all days, and on that of its own"
    assert '<a href="#stop-2-1">stop 2.1</a>: Ateneum closes 18:00' in group_of(page, "stop")
    assert '<a href="#day-2">day 2</a>: no stop for lunch' in group_of(page, "day")
    assert page.count('id="stop-2-1"') == page.count('id="day-2"') == 1


def test_opening_hours_are_drawn_behind_the_stay_on_the_clock_of_the_day(late: TripResult) -> None:
    lane = day_lane(late, 2, faults_of(late))
    ateneum = lane.rows[0]
    share = 100 - 2 * EDGE  # 09:00 to 21:00
    (hours,) = ateneum.hours
    assert hours.x == pytest.approx(EDGE + share * 1 / 12, abs=0.01)
    assert hours.width == pytest.approx(share * 8 / 12, abs=0.01)
    assert ateneum.stay is not None
    assert ateneum.stay.x > hours.x + hours.width, "it is visited after it has closed"
    drawn = f'class="trip-open" x="{hours.x}%" y="{ateneum.y + 3}" width="{hours.width}%"'
    assert drawn in page_of(late)


def test_waits_and_legs_are_drawn_one_after_the_other(late: TripResult) -> None:
    row = day_lane(late, 1, faults_of(late)).rows[1]
    assert row.leg is not None
    assert row.wait is not None
    assert row.stay is not None
    assert row.leg.x + row.leg.width == pytest.approx(row.wait.x, abs=0.02)
    assert row.wait.x + row.wait.width == pytest.approx(row.stay.x, abs=0.02)
    assert "3 min wait" in row_of(page_of(late), "leg-1-2")


@pytest.mark.parametrize(
    ("arrive", "leave", "reason"),
    [
        ("18:20", "19:50", "Ateneum closes 18:00, you arrive 18:20"),
        ("17:00", "18:30", "Ateneum closes 18:00, you leave 18:30"),
        ("09:20", "10:50", "Ateneum opens 10:00, you arrive 09:20"),
    ],
)
def test_a_closed_door_is_named_with_the_hour_that_matters(arrive: str, leave: str, reason: str) -> None:
    result = planned([[], [(ATENEUM, arrive, leave)]])
    assert reason in [fault.reason for fault in faults_of(result) if fault.code == "OPEN_HOURS"]


def test_a_place_that_is_closed_all_day_is_called_closed_with_the_date() -> None:
    result = planned([[], [(KIASMA, "12:00", "13:30")]], start_date="2026-06-07")
    reasons = [fault.reason for fault in faults_of(result)]
    assert "Kiasma is closed on Monday 8 June" in reasons


def test_a_failing_leg_names_its_ends_and_is_drawn_apart(late: TripResult) -> None:
    result = planned([[(CHAPEL, "09:30", "10:00"), (KIASMA, "10:02", "11:40")], []])
    page = page_of(result)
    assert "Kampin kappeli to Kiasma takes 7 min on foot; the plan leaves 2 min" in row_of(page, "leg-1-2")
    assert page.count('class="trip-leg trip-leg-failing"') == 1
    assert page.count('class="trip-route-failing"') == 2
    assert 'class="trip-outline"' not in page, "the stay itself keeps its hours"


PATHS: Mapping[str, tuple[str, str]] = {
    "trip": ("days", "trip"),
    "day": ("days.1", "day-2"),
    "stop": ("days.0.visits.1", "stop-1-2"),
    "leg": ("days.0.legs.1", "leg-1-2"),
}


@pytest.mark.parametrize("code", check_kinds())
def test_each_fault_can_be_said_and_links_to_a_place_that_is_on_the_page(late: TripResult, code: str) -> None:
    path, anchor = PATHS[check_kinds()[code].level]
    result = with_faults(late, Violation(code=code, path=path, expected="so much", found="too little"))
    (fault,) = faults_of(result)
    assert fault.anchor == anchor
    assert "{" not in fault.reason
    page = page_of(result)
    assert page.count(f'id="{anchor}"') == 1
    assert f'<a href="#{anchor}">' in group_of(page, check_kinds()[code].level)


@pytest.mark.parametrize("path", ["days.9", "days.0.visits.99", "days.0.legs.99", "plan", "days.0.date"])
def test_a_fault_at_a_place_that_the_plan_lacks_is_shown_all_the_same(late: TripResult, path: str) -> None:
    result = with_faults(late, Violation(code="SCHEMA", path=path, expected="one", found="none"))
    assert "expected one, found none" in group_of(page_of(result), "trip")


def test_names_stay_text(late: TripResult) -> None:
    evil = "<script>alert(1)</script>\"'&"
    plan = late.plan.model_dump(mode="json")
    for stop in (plan["days"][0]["start"], plan["days"][0]["visits"][0]["place"]):
        stop["name"] = evil
    page = page_of(replace(late, plan=Plan.model_validate(plan)))
    assert "<script" not in page
    assert evil in unescape(page)


def test_the_page_has_nothing_that_the_live_page_may_not_have(late: TripResult) -> None:
    page = page_of(late)
    body = page.split("<body>")[1]
    assert not re.search(
        r"\sstyle=|<style|\son[a-z]+=|<script|javascript:|https?://[^ <)]*\.(?:png|js|css)", body
    )
    ids = re.findall(r'\sid="([^"]+)"', body)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', body)) <= set(ids)
    assert set(" ".join(re.findall(r'aria-labelledby="([^"]+)"', body)).split()) <= set(ids)


def test_a_trip_of_one_day_has_one_map_and_plain_numbers() -> None:
    result = planned([[(CHAPEL, "09:30", "10:00")]], days=1, places=["Kampin kappeli"], meals=[])
    page = page_of(result)
    assert page.count('class="trip-map"') == 1
    assert [row["label"] for row in trip_view(result)["days"][0]["rows"] if row["kind"] == "stop"] == ["1"]
    assert trip_view(result)["answer"] == "1 day in Helsinki: all 29 checks hold."
    left_out = result.plan.model_copy(update={"skipped": (Skipped(place="Atlantis", reason="not known"),)})
    answer = trip_view(replace(result, plan=left_out))["answer"]
    assert answer == "1 day in Helsinki without Atlantis: all 29 checks hold."


def test_hours_that_no_source_has_are_called_unknown_and_never_checked() -> None:
    park = "helsinki/w27326449"
    result = planned([[(park, "09:30", "10:00")]], days=1, places=[park], meals=[])
    (check,) = [check for check in checks_of(result, faults_of(result)) if check.code == "OPEN_HOURS"]
    assert (check.state, check.note) == ("unchecked", "0 of 1 stop; stop 1: no source has its hours")
    page = page_of(result)
    assert "hours not known" in row_of(page, "stop-1-1")
    before = page.split('id="trip-before"')[1].split("</section>")[0]
    assert "Opening hours: no source has its hours." in before
    assert '<a href="#stop-1-1">1 ' in before
    assert trip_view(result)["answer"] == "1 day in Helsinki: 28 of 29 checks hold; 1 could not be checked."


@pytest.fixture(scope="module")
def refused() -> TripResult:
    task = request_task({**REQUEST, "start_date": "2026-06-08", "days": 1})
    answer = score(task, json.dumps({"status": "refused", "conflict": ["hours:Ateneum"]})).answer
    return result_of(answer)


@pytest.mark.parametrize(("is_proven", "word"), [(True, "Proven"), (False, "Not proven"), (None, "")])
def test_a_refusal_says_what_is_proven(refused: TripResult, is_proven: bool | None, word: str) -> None:
    result = replace(refused, is_proven=is_proven)
    page, view = page_of(result), trip_view(result)
    assert view["proof"].startswith(word)
    assert ("it is proven that there is none" in view["answer"]) is (is_proven is True)
    assert "the opening hours of Ateneum" in group_of_conflict(page)
    assert "<svg" not in page


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("order:A>B", "A before B"),
        ("meal:lunch", "a stop for lunch"),
        ("max_walk_m", "the limit on walking"),
        ("order:A", "order:A"),
        ("budget:<b>", "budget:<b>"),
        ("{}", "{}"),
    ],
)
def test_constraints_are_named_in_words_and_what_is_none_stays_as_it_is(
    late: TripResult, entry: str, words: str
) -> None:
    plan = late.plan.model_copy(update={"status": "refused", "days": (), "conflict": (entry,)})
    assert trip_view(replace(late, plan=plan, violations=()))["conflict"] == [words]


def test_a_day_without_stops_and_places_far_apart_are_drawn() -> None:
    result = planned([[], []])
    assert "0 stops" in page_of(result)
    rail = {
        "area": "japan",
        "start_date": "2026-06-11",
        "mode": "rail",
        "places": ["Tokyo Station", "Osaka Station"],
    }
    draft = {"days": [{"visits": [{"place": name, "arrive": at, "leave": to} for name, at, to in
        (("Tokyo Station", "09:00", "09:30"), ("Osaka Station", "15:00", "15:30"))]}]}  # fmt: skip
    answer = score(request_task(rail), json.dumps(draft)).answer
    assert "km</text>" in page_of(result_of(answer))
