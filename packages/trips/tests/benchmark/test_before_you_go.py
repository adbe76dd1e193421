"""What a traveller settles before a trip: each thing once, and nothing that does not follow from the plan."""

import json
from typing import Any

import pytest

from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.export.outputs import rendered
from gnomon_trips.export.result import TripResult, result_of
from gnomon_trips.export.trip_view import trip_view

ATENEUM, CHAPEL = "helsinki/w8033120", "helsinki/w185401488"
LUNCH, OTHER_LUNCH = "helsinki/n4749101640", "helsinki/n4749101648"
REQUEST: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-11",
    "days": 2,
    "party": 7,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kampin kappeli"],
    "window": {"start": "09:00", "end": "21:00"},
    "meals": [{"end": "15:00"}],
    "rules": {"price": {"museum": 20}},
}
DAYS = [
    [(CHAPEL, "09:30", "10:00"), (LUNCH, "12:00", "13:00")],
    [(ATENEUM, "10:15", "11:45"), (OTHER_LUNCH, "12:30", "13:30")],
]


def trip(**request: Any) -> TripResult:
    keys = ("place", "arrive", "leave")
    days = [{"visits": [dict(zip(keys, visit, strict=True)) for visit in day]} for day in DAYS]
    return result_of(score(request_task({**REQUEST, **request}), json.dumps({"days": days})).answer)


def test_beds_tables_and_prices_are_what_there_is_to_book() -> None:
    view = trip_view(trip())
    assert view["bookings"] == [
        "Hotelli Torni for 7, Thursday 11 June to Friday 12 June (1 night).",
        "Tables for 7: Itamae Sushi, Thursday 11 June, 12:00; Tamarin, Friday 12 June, 12:30.",
        "Ateneum for 7: 140.00 EUR, by the request's prices.",
    ]
    assert view["not_known"] == "No source here says whether tickets are for a fixed time."


def test_a_small_party_books_no_table_and_what_has_no_price_is_called_so() -> None:
    view = trip_view(trip(party=2, rules={}))
    assert view["bookings"] == ["Hotelli Torni for 2, Thursday 11 June to Friday 12 June (1 night)."]
    assert view["not_known"] == (
        "No source here says whether tickets are for a fixed time or what they cost."
    )


def test_a_night_that_nobody_named_is_to_be_looked_for() -> None:
    bookings = trip_view(trip(hotel=None))["bookings"]
    assert bookings[0].startswith(
        "A bed for 7 near Itamae Sushi, Thursday 11 June to Friday 12 June (1 night)"
    )
    assert not [words for words in trip_view(trip(hotel=None))["assumptions"] if words.startswith("Night")]


@pytest.mark.parametrize("ending", [".html", ".md"])
def test_what_is_left_out_is_said_once(ending: str) -> None:
    result = trip(places=[*REQUEST["places"], "Nowhere at all"])
    assert [fault["code"] for fault in result.violations] == ["SKIPPED"], result.violations
    told = rendered(result, ending).decode()
    assert told.count("similar: ") == 1
    assert told.split("Left out")[1].split("Assumed")[0].count("Nowhere at all") == 2
    assert "SKIPPED at" not in told


def test_each_stop_has_its_reason_source_and_date_and_each_leg_its_streets() -> None:
    view = trip_view(trip())
    rows = [row for day in view["days"] for row in day["rows"]]
    stops = [row for row in rows if row["kind"] == "stop"]
    assert {row["source"] for row in stops} == {"OpenStreetMap (helsinki), 21 April 2019"}
    assert any(row["via"] for row in rows if row["kind"] == "leg")
    assert all(row["name"].split(",")[0].endswith("on foot") for row in rows if row["kind"] == "leg")


def test_japanese_places_are_named_in_both_scripts_and_rides_by_their_parts() -> None:
    request = {
        "area": "japan",
        "start_date": "2026-06-11",
        "mode": "rail",
        "places": ["Senso-ji Temple", "渋谷駅"],
    }
    visits = [
        {"place": "Senso-ji Temple", "arrive": "09:00", "leave": "09:45"},
        {"place": "渋谷駅", "arrive": "11:00", "leave": "11:30"},
    ]
    result = result_of(score(request_task(request), json.dumps({"days": [{"visits": visits}]})).answer)
    (temple, leg, station) = trip_view(result)["days"][0]["rows"]
    assert (temple["name"], temple["other_script"]) == ("Sensō-ji", "浅草寺")
    assert (station["name"], station["other_script"]) == ("Shibuya", "渋谷")
    assert "Ginza Line (Tokyo Metro) from Asakusa to Shibuya, 18 stops, 34 min" in leg["via"]
    page = rendered(result, ".html").decode()
    assert "<li>Ginza Line (Tokyo Metro) from Asakusa to Shibuya, 18 stops, 34 min</li>" in page
    assert "渋谷" in rendered(result, ".ics").decode()


def test_a_refusal_that_is_not_proven_shows_the_best_part_and_calls_it_so() -> None:
    request = {**REQUEST, "start_date": "2026-06-08", "days": 1, "meals": []}
    refusal = {"status": "refused", "conflict": ["window"]}
    result = result_of(score(request_task(request), json.dumps(refusal)).answer)
    view, page = trip_view(result), rendered(result, ".html").decode()
    assert view["nearest"].startswith("Ateneum is closed on Mondays; each day is from 09:00 to 21:00;")
    assert "the trip works from Tuesday 9 June" in view["nearest"]
    assert view["is_part"] is True
    assert "The best plan for a part of it" in page
    assert "Ateneum: " in page.split('id="trip-part"')[1].split("</section>")[0]
    assert 'id="stop-1-1"' in page
    assert view["nearest"] in rendered(result, ".md").decode()
    assert json.loads(rendered(result, ".json"))["alternatives"]["words"] == view["nearest"]
