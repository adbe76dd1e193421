"""A placebo of the tools of trips answers about another trip, and judges another plan."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.arm import Arm
from gnomon.core.benchmark import SampleSet
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.trials.condition import Situation, toolbox_of
from gnomon.trials.donors import Donors
from gnomon_tools.core.toolbox import Toolbox
from gnomon_trips.benchmarks.itinerary.benchmark import itinerary
from gnomon_trips.itinerary.stand_in_trip import is_like, plan_by_chance, stand_in_trip
from gnomon_trips.itinerary.trip import Trip

TOOLS = ("check_plan", "find_place", "order_visits", "place_details", "places_near", "plan_trip", "travel")
MEDIA = MediaStore(Path("unused"))


@pytest.fixture(scope="module")
def samples() -> SampleSet:
    select = Select(limit=40, tasks=["city-day", "must-refuse", "change-request"])
    return itinerary.open(data=None, select=select, protocol="guarded", media=MEDIA)


@pytest.fixture(scope="module")
def asked(samples: SampleSet) -> Sample:
    return samples.get(samples.refs[0].sample_id)


def trip_of(sample: Sample) -> Trip:
    assert sample.find(Trip) is not None
    return sample.find(Trip)


def box(sample: Sample, samples: SampleSet | None, *, seed: int = 1, results: Any = "other_scene") -> Toolbox:
    arm = Arm(name="a", agent="react", tools=TOOLS, results=results)
    return toolbox_of(
        sample, Situation.of(arm, media=MEDIA, seed=seed, donors=Donors(sample, samples, seed=seed))
    )


def drafted(sample: Sample, first_hour: int) -> str:
    visits = [
        {"place": name, "arrive": f"{first_hour + number:02}:00", "leave": f"{first_hour + number:02}:45"}
        for number, name in enumerate(trip_of(sample).request.places)
    ]
    return json.dumps({"plan": {"days": [{"visits": visits}]}})


def test_donors_are_of_any_family_so_that_they_tell_nothing_of_whether_there_is_a_plan(
    samples: SampleSet,
) -> None:
    of_city_days = {
        donor.ref.task
        for ref in samples.refs[:12]
        if ref.task == "city-day"
        for donor in Donors(samples.get(ref.sample_id), samples, seed=1)
    }
    assert len(of_city_days) > 1


def test_a_stand_in_has_the_names_of_the_question_and_the_places_of_another(
    asked: Sample, samples: SampleSet
) -> None:
    donor = Donors(asked, samples, seed=1).first()
    assert donor is not None
    trip, donor_trip = trip_of(asked), trip_of(donor)
    stand_in = stand_in_trip(trip, donor_trip, 1)
    assert stand_in.named.keys() == trip.named.keys()
    assert {place.id for place in stand_in.named.values()} == {place.id for place in trip.named.values()}
    positions = {place.at for place in donor_trip.named.values()}
    assert all(place.at in positions for place in stand_in.named.values())
    assert stand_in.request.max_walk_m == donor_trip.request.max_walk_m
    assert stand_in.answerable is None
    assert stand_in.named == stand_in_trip(trip, donor_trip, 1).named


def test_a_like_donor_can_be_planned_where_its_own_trip_can(samples: SampleSet) -> None:
    statuses = []
    for ref in samples.refs[::2]:
        sample = samples.get(ref.sample_id)
        donor = Donors(sample, samples, seed=1).first()
        if donor is not None and donor.ref.task == "city-day" and is_like(trip_of(sample), trip_of(donor)):
            statuses.append(json.loads(box(sample, samples).call("plan_trip", "{}").content)["status"])
    assert statuses
    assert statuses.count("planned") > len(statuses) / 2


def test_no_plan_of_a_placebo_holds_for_the_question(samples: SampleSet) -> None:
    planned = 0
    for ref in samples.refs[:9]:
        sample = samples.get(ref.sample_id)
        plan = json.loads(box(sample, samples).call("plan_trip", "{}").content)
        if plan["status"] == "planned":
            planned += 1
            answer = json.dumps({"status": "planned", "days": plan["days"]})
            assert itinerary.score(sample, answer, scoring="strict").value == 0.0
    assert planned > 1


def test_what_several_tools_say_of_a_place_agrees(asked: Sample, samples: SampleSet) -> None:
    toolbox = box(asked, samples)
    name, second = trip_of(asked).request.places[:2]
    details = json.loads(toolbox.call("place_details", json.dumps({"place": name})).content)
    [hit, *_] = json.loads(toolbox.call("find_place", json.dumps({"name": name})).content)["hits"]
    assert (hit["lat_deg"], hit["lon_deg"]) == (details["lat_deg"], details["lon_deg"])
    near = json.dumps({"lat": details["lat_deg"], "lon": details["lon_deg"], "radius_m": 200.0, "limit": 30})
    around = json.loads(toolbox.call("places_near", near).content)["hits"]
    assert details["id"] in {row["id"] for row in around}
    way = json.dumps({"start": name, "end": second})
    live = box(asked, samples, results="live").call("travel", way)
    assert toolbox.call("travel", way).content != live.content


def test_a_verdict_is_on_another_plan(asked: Sample, samples: SampleSet) -> None:
    empty = json.dumps({"plan": {"days": []}})
    live = json.loads(box(asked, samples, results="live").call("check_plan", empty).content)
    blind = json.loads(box(asked, samples).call("check_plan", empty).content)
    assert "DAY_COUNT" in {fault["code"] for fault in live["faults"]}
    assert "DAY_COUNT" not in {fault["code"] for fault in blind["faults"]}
    assert blind.keys() == live.keys()


def test_equal_plans_get_equal_verdicts_and_others_mostly_others(asked: Sample, samples: SampleSet) -> None:
    first, again = (box(asked, samples).call("check_plan", drafted(asked, 9)) for _ in range(2))
    assert first == again
    assert first.injected == "other_scene"
    verdicts = {box(asked, samples).call("check_plan", drafted(asked, hour)).content for hour in range(6, 12)}
    assert len(verdicts) > 2


def test_without_another_trip_places_are_exchanged_and_none_keeps_its_own(asked: Sample) -> None:
    observation = box(asked, None).call(
        "place_details", json.dumps({"place": trip_of(asked).request.places[0]})
    )
    assert observation.injected == "same_scene"
    trip = trip_of(asked)
    stand_in = stand_in_trip(trip, None, 1)
    visited = [name for name, place in trip.named.items() if place != trip.hotel]
    assert all(stand_in.named[name].at != trip.named[name].at for name in visited)


def test_a_name_that_means_nothing_is_the_same_error(asked: Sample, samples: SampleSet) -> None:
    call = json.dumps({"place": "no such place at all"})
    live = box(asked, samples, results="live").call("place_details", call)
    assert live.error is not None
    assert box(asked, samples).call("place_details", call).content == live.content


def test_a_plan_by_chance_visits_every_place_once(asked: Sample) -> None:
    trip = trip_of(asked)
    plan = plan_by_chance(trip, "k")
    visited = [visit["place"] for day in plan["days"] for visit in day["visits"]]
    assert sorted(visited) == sorted(trip.request.places)
    assert len(plan["days"]) == trip.request.days
