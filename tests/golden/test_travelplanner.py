"""Three rules of TravelPlanner, written anew, on the 180 plans that its authors published."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.itinerary_export.travelplanner import (
    attractions_differ,
    delivered,
    restaurants_differ,
    transport_agrees,
)


@pytest.fixture(scope="module")
def plans(travelplanner_dir: Path) -> list[list[dict[str, Any]]]:
    lines = (travelplanner_dir / "example_evaluation.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == 180
    return [record["plan"] for record in records if delivered(record)]


def counts(plans: list[list[dict[str, Any]]]) -> tuple[int, int, int, int]:
    rules = (restaurants_differ, transport_agrees, attractions_differ)
    return (len(plans), *(sum(rule(days) for days in plans) for rule in rules))  # type: ignore[return-value] # four


def test_the_counts_are_those_of_the_official_functions(plans: list[list[dict[str, Any]]]) -> None:
    assert counts(plans) == (161, 142, 129, 161)


@pytest.mark.parametrize(
    ("field", "value", "changed"),
    [
        ("dinner", lambda days: days[0]["lunch"], (161, 141, 129, 161)),
        ("transportation", lambda _: "-", (161, 142, 128, 161)),
    ],
)
def test_one_altered_plan_alters_the_counts(
    field: str, value: Any, changed: tuple[int, ...], plans: list[list[dict[str, Any]]]
) -> None:
    altered = copy.deepcopy(plans)
    sound = next(days for days in altered if restaurants_differ(days) and transport_agrees(days))
    sound[0][field] = value(sound)
    assert counts(altered) == changed


def test_no_plan_is_none_delivered(plans: list[list[dict[str, Any]]]) -> None:
    assert not any(delivered(record) for record in ({}, {"plan": None}, {"plan": []}))
    assert all(plans)
