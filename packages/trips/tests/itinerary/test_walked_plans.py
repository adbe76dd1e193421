"""A plan holds against the raw data by a reading of its own, and a plan that does not is noticed."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from packages.trips.tests.itinerary.planted_faults import CITY, Json, city
from packages.trips.tests.itinerary.walked_plans import Walk, hours_on, walked, weekday


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """A plan, with the raw data of its area."""
    file = tmp_path_factory.mktemp("trip") / "trip.json"
    file.write_text(json.dumps({"plan": city()[0], "request": CITY}))
    return walked(file)


def test_every_line_of_a_plan_is_found_in_the_raw_data(read: Walk) -> None:
    reading = replace(read)
    lines = list(reading.lines())
    assert (reading.faults, sum("✓" in line for line in lines)) == (0, len(lines) - 2)  # two lines of heading


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("days.0.date", "2026-06-11"),
        ("days.1.visits.1.arrive", "09:30"),
        ("days.0.visits.1.place.name", "Ateneum"),
        ("days.0.visits.1.place.lat", 60.18),
        ("days.1.legs.0.metres", 300),
        ("totals.minutes", 1),
    ],
)
def test_a_line_that_is_not_so_is_noticed(path: str, value: object, read: Walk) -> None:
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    plan: Json = copy.deepcopy(dict(read.plan))
    inner: Any = plan
    for step in steps:
        inner = inner[step]
    inner[last] = value
    reading = replace(read, plan=plan)
    list(reading.lines())
    assert reading.faults > 0


def test_the_small_reader_knows_weekdays_and_seasons() -> None:
    assert [weekday(date) for date in ("2026-06-08", "2026-11-23", "2028-02-29")] == ["Mo", "Mo", "Tu"]
    assert hours_on("Jun-Aug: Su-Sa 09:00-24:00; Sep-May: Su-Sa 09:00-18:00", "Th", 6) == [(540, 1440)]
    assert hours_on("Mo-Fr 10:00-16:00, Sa 10:00-14:00", "Su") == []
    assert hours_on("sunrise-sunset", "Mo") is None
