"""What makes one plan that holds better than another: one sum in metres, its weights in one place."""

from collections.abc import Mapping
from dataclasses import dataclass

from tools.itinerary.place import Place
from tools.itinerary.request import MEALS, TripRequest

FAME = "fame"
"""The key of a tag of a place that says how well known it is, from 0 to 1."""
USUAL_FAME = 0.3
FAME_OF_KIND: Mapping[str, float] = {
    "castle": 0.7, "attraction": 0.6, "museum": 0.6, "zoo": 0.6, "place_of_worship": 0.5, "ruins": 0.5,
    "monument": 0.5, "viewpoint": 0.5, "gallery": 0.4, "garden": 0.4, "park": 0.4, "theatre": 0.4,
}  # fmt: skip
"""How well known a place of a kind usually is, where its source does not say."""
IDEAL_MEAL: Mapping[str, int] = {"breakfast": 8 * 60 + 30, "lunch": 12 * 60 + 30, "dinner": 18 * 60 + 30}


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How many metres on foot each flaw of a plan is worth.

    `minute_m`: a minute later back; `even_m`: a minute of stays, for the share of the day that is already
    spent on stays (so that even days cost less than a full and an empty one); `meal_m`: a minute between a
    meal and its usual hour; `closing_m`: each minute that is missing to `closing_min` before a door closes;
    `unknown_hours_m`: a stop of the planner's own choice whose hours no source has; `wish_m`: a wish of a
    kind that is not served, the next of that kind `wish_again` times as much.
    """

    minute_m: int = 40
    even_m: int = 160
    meal_m: int = 10
    closing_min: int = 15
    closing_m: int = 20
    unknown_hours_m: int = 400
    wish_m: int = 9000
    wish_again: float = 0.6


EASY = Weights()
SHORT = Weights(minute_m=0, even_m=0, meal_m=0, closing_m=0, unknown_hours_m=0)
"""For the least metres, whatever else."""
MUST_M, MEAL_M = 10_000_000, 1_000_000
"""A place that was asked for, or a meal, is never given up for anything below it."""
FULL_WISH, PLAIN_WISH = 1.7, 0.7
"""A wish is worth its value times PLAIN_WISH plus the fame of what serves it: at most FULL_WISH."""
MINUTE_AS_M = 80
"""A minute on a train or in a car is as tiring as that many metres on foot."""
STOPS_A_DAY = 5
"""Wishes fill a day up to that many stops, meals not counted."""
WISHES_A_DAY = 2
"""That many places of one wished kind are enough for a day; of places to eat at, one."""


def weights_of(request: TripRequest) -> Weights:
    """The weights for what the traveller prefers."""
    return SHORT if request.prefer == "short_walk" else EASY


def fame_of(place: Place) -> float:
    """How well known a place is, from 0 to 1: by its source, else by its kind."""
    for key, value in place.tags:
        if key == FAME:
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                break
    return FAME_OF_KIND.get(place.kind, USUAL_FAME)


def worth_of(place: Place, *, is_must_see: bool) -> float:
    """What a place that was asked for is worth: one that must be seen more than all the others together.

    The request has at most 60 places, each worth at most one and a half times MUST_M.
    """
    return MUST_M * (0.5 + fame_of(place) + (100.0 if is_must_see else 0.0))


def wish_values(weights: Weights, kind: str, days: int, choices: int) -> list[float]:
    """What the first, the second … place of a wished kind is worth, of so many to choose from.

    >>> [round(value) for value in wish_values(EASY, "park", 2, 30)]
    [9000, 9000, 5400, 5400]
    >>> wish_values(EASY, "cafe", 1, 30)
    [9000.0]
    """
    most = min(choices, days * (1 if kind in MEALS else WISHES_A_DAY))
    return [float(weights.wish_m * weights.wish_again ** (rank // days)) for rank in range(most)]
