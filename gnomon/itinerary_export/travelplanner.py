"""Checks TravelPlanner's plans by three of its common-sense rules, written anew.

The plans are those of Xie et al., "TravelPlanner: A Benchmark for Real-World Planning with Language
Agents" (ICML 2024): a list of days with texts for transportation, three meals, attractions and lodging;
"-" is nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MEALS = ("breakfast", "lunch", "dinner")
MODES = ("flight", "self-driving", "taxi")
CONFLICTS = (frozenset(("flight", "self-driving")), frozenset(("taxi", "self-driving")))

Days = Sequence[Mapping[str, Any]]


def delivered(record: Mapping[str, Any]) -> bool:
    """Whether there is a plan at all."""
    return bool(record.get("plan"))


def restaurants_differ(days: Days) -> bool:
    """Whether no restaurant is visited twice.

    >>> restaurants_differ([{"breakfast": "-", "lunch": "Nagai, Rome", "dinner": "Nagai, Rome"}])
    False
    """
    eaten = [day[meal] for day in days for meal in MEALS if _is_told(day.get(meal))]
    return len(set(eaten)) == len(eaten)


def attractions_differ(days: Days) -> bool:
    """Whether no sight is seen twice; sights of a day are parted by semicolons.

    >>> attractions_differ([{"attraction": "Zoo, Rome;Forum, Rome;"}, {"attraction": "Zoo, Rome"}])
    False
    """
    sights = [name for day in days for name in _sights(day)]
    return len(set(sights)) == len(sights)


def transport_agrees(days: Days) -> bool:
    """Whether the first day has transportation, and no own car is driven beside flights or taxis.

    >>> transport_agrees([{"transportation": "Self-driving, from A to B"}, {"transportation": "Taxi"}])
    False
    """
    texts = [day.get("transportation") for day in days]
    if not texts or not _is_told(texts[0]):
        return False
    used = {mode for text in texts if _is_told(text) for mode in MODES if mode in str(text).lower()}
    return not any(conflict <= used for conflict in CONFLICTS)


def _sights(day: Mapping[str, Any]) -> Iterator[str]:
    text = day.get("attraction")
    if _is_told(text):
        yield from (name.strip() for name in str(text).split(";") if name.strip())


def _is_told(text: object) -> bool:
    return bool(text) and text != "-"
