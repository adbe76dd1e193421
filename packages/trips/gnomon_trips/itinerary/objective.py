"""Scores how good a valid plan is: one sum in metres, with all weights in one place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.request import KEPT_FREE, MEALS, Meal, TripRequest

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
    kind that is not served, `wish_again` times as much for the next one after each has one for every day, or
    with `has_fewer_again` for each next one; `wishes_a_day` places of one wished kind are enough for a day
    (of places to eat at, one), and wishes fill it up to `stops_a_day`, meals not counted. `has_meal_kinds`:
    what kind of place suits a meal counts; `wish_even`: the share of the stays for wishes that counts where
    days are to be even; `empty_m`: a day on which nothing is seen; `late_m`: a minute of waiting for the
    first stop of a day, beyond an hour.
    """

    minute_m: int = 40
    even_m: int = 160
    meal_m: int = 10
    closing_min: int = 15
    closing_m: int = 20
    unknown_hours_m: int = 400
    wish_m: int = 9000
    wish_again: float = 0.6
    has_fewer_again: bool = False
    wishes_a_day: int = 2
    stops_a_day: int = 5
    has_meal_kinds: bool = False
    wish_even: float = 1.0
    empty_m: int = 0
    late_m: int = 0


EASY = Weights()
"""For an early end."""
SHORT = Weights(minute_m=0, even_m=0, meal_m=0, closing_m=0, unknown_hours_m=0)
"""For the least metres, whatever else."""
COMFORTABLE = Weights(
    minute_m=20, even_m=100, meal_m=20, closing_min=20, wish_again=0.85, has_fewer_again=True, wishes_a_day=1,
    has_meal_kinds=True, wish_even=0.5, empty_m=3000, late_m=10,
)  # fmt: skip
"""For a day as people have it: back later is no loss but for the time lost on the way and waiting."""
STOPS_AT_PACE: Mapping[str, int] = {"relaxed": 4, "normal": 5, "packed": 7}
MOST_ALIKE = 3
"""So many places of one kind a day are the most that anybody likes."""
MEAL_KIND_M: Mapping[str, Mapping[str, int]] = {
    "breakfast": {"restaurant": 500, "fast_food": 800, "food_court": 800, "pub": 2000, "biergarten": 2000,
                  KEPT_FREE: 1500},
    "lunch": {"fast_food": 800, "pub": 200, KEPT_FREE: 1500},
    "dinner": {"cafe": 2500, "fast_food": 3000, "food_court": 2000, KEPT_FREE: 1500},
}  # fmt: skip
"""What it costs to have a meal at a place of a kind that others have it at less."""
LARGE_PARTY, SMALL_TABLES_M = 6, 5000
"""From so many people on a table is booked; a café or a counter has none for them."""
MUST_M, MEAL_M = 10_000_000, 1_000_000
"""A place that was asked for, or a meal, is never given up for anything below it."""
FULL_WISH, PLAIN_WISH = 1.7, 0.7
"""A wish is worth its value times PLAIN_WISH plus the fame of what serves it: at most FULL_WISH."""
MINUTE_AS_M = 80
"""A minute on a train or in a car is as tiring as that many metres on foot."""


def weights_of(request: TripRequest) -> Weights:
    """The weights for what the traveller prefers."""
    if request.prefer is not None:
        return SHORT if request.prefer == "short_walk" else EASY
    pace = request.preferences.pace
    stops = STOPS_AT_PACE[pace]
    a_day = 2 if pace == "packed" else 1
    if not request.places:  # who names nothing but kinds wants days full of them
        a_day = max(1, min(MOST_ALIKE, round(stops / (len(set(request.wishes)) + 0.5))))
    return replace(COMFORTABLE, wishes_a_day=a_day, stops_a_day=stops)


def usual_min(meal: Meal) -> int:
    """When people have a meal, within the hours that were asked for, in minutes from midnight."""
    return min(max(IDEAL_MEAL[meal.name], meal.start_min), meal.end_min - meal.minutes)


def meal_kind_m(meal: str, kind: str, party: int) -> float:
    """The cost of a meal at a kind of place, for so many people, beside its time.

    >>> meal_kind_m("lunch", "cafe", 2), meal_kind_m("lunch", "cafe", 8)
    (0.0, 5000.0)
    """
    has_table = party < LARGE_PARTY or kind not in ("cafe", "fast_food")
    return float(MEAL_KIND_M[meal].get(kind, 0) + (0 if has_table else SMALL_TABLES_M))


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
    """The worth of a place that was asked for: a must-see is worth more than all the others together.

    The request has at most 60 places, each worth at most one and a half times MUST_M.
    """
    return MUST_M * (0.5 + fame_of(place) + (100.0 if is_must_see else 0.0))


def wish_values(weights: Weights, kind: str, days: int, choices: int) -> list[float]:
    """The worth of the first, the second … place of a wished kind, of so many to choose from.

    >>> [round(value) for value in wish_values(EASY, "park", 2, 30)]
    [9000, 9000, 5400, 5400]
    >>> wish_values(EASY, "cafe", 1, 30)
    [9000.0]
    """
    most = min(choices, days * (1 if kind in MEALS else weights.wishes_a_day))
    ranks = (rank if weights.has_fewer_again else rank // days for rank in range(most))
    return [float(weights.wish_m * weights.wish_again**rank) for rank in ranks]
