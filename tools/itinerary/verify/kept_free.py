"""Checks time kept free to eat: only where nowhere to eat is known, and told; never counted as held."""

from collections.abc import Iterator

from tools.itinerary.facts import Facts
from tools.itinerary.kept_free import is_kept_free, told
from tools.itinerary.plan import Plan
from tools.itinerary.verify.violation import Unchecked, Violation


def kept_free(plan: Plan, facts: Facts) -> Iterator[Violation | Unchecked]:
    """Time kept free though there is somewhere to eat, or without a word; else a meal nobody can check."""
    for number, day in enumerate(plan.days):
        for index, visit in enumerate(day.visits):
            if not is_kept_free(visit.place.id):
                continue
            path = f"days.{number}.visits.{index}"
            eatery = facts.eateries.get(visit.place.id)
            if eatery is not None:
                expected = f"a meal at a place that is known, such as {eatery.name}"
                yield Violation(code="MEAL_WINDOW", path=path, expected=expected, found="time kept free")
            if told(visit.place.name) not in plan.assumptions:
                expected = f"that the time is kept free: {told(visit.place.name)}"
                yield Violation(
                    code="ASSUMED", path="assumptions", expected=expected, found="not a word of it"
                )
            yield Unchecked(
                code="MEAL_WINDOW", path=f"days.{number}", why="no source knows a place to eat there"
            )
