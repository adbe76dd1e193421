"""Bounds are below every way and every plan; tables give what single ways give; splits are the cheapest."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from gnomon_trips.itinerary.embedded import Embedded
from gnomon_trips.itinerary.problem import problem_of
from gnomon_trips.itinerary.proof import is_ruled_out, least_tour
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.split import cheapest_split
from packages.trips.tests.itinerary.test_planning import planned, trip_of


def drawn_ways(seed: int, count: int) -> NDArray[np.float64]:
    points = np.random.default_rng(seed).random((count, 2)) * 1000
    return np.round(np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)))


def shortest(ways: NDArray[np.float64], ends: set[int]) -> float:
    orders = itertools.permutations(range(len(ways)))
    return min(
        sum(ways[a, b] for a, b in itertools.pairwise(order))
        for order in orders
        if not ends or {order[0], order[-1]} == ends
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ends", [None, (0, 3)])
def test_the_least_tour_is_no_longer_than_the_shortest_way_and_nearly_as_long(
    seed: int, ends: tuple[int, int] | None
) -> None:
    ways = drawn_ways(seed, 7)
    best = shortest(ways, set(ends or ()))
    assert 0.97 * best <= least_tour(ways, ends) <= best + 1e-6


def test_a_single_stop_and_none_need_no_way() -> None:
    assert least_tour(np.zeros((0, 0))) == least_tour(np.zeros((1, 1))) == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_a_split_over_days_is_the_cheapest_of_all(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count, days = int(chance.integers(1, 5)), int(chance.integers(1, 4))
    costs = [chance.integers(1, 50, 1 << count).astype(float) for _ in range(days)]
    for cost in costs:
        cost[chance.random(len(cost)) < 0.3] = np.inf
    before = [(0, count - 1)] if count > 1 and seed % 2 else []
    tried = []
    for day_of in itertools.product(range(days), repeat=count):
        if any(day_of[first] > day_of[then] for first, then in before):
            continue
        masks = [sum(1 << spot for spot in range(count) if day_of[spot] == day) for day in range(days)]
        tried.append(sum(cost[mask] for cost, mask in zip(costs, masks, strict=True)))
    split = cheapest_split(costs, before)
    assert (split[0] if split else np.inf) == min(tried)
    if split is not None:
        assert sum(cost[mask] for cost, mask in zip(costs, split[1], strict=True)) == split[0]


def test_a_table_of_ways_on_foot_is_to_the_metre_what_each_way_is() -> None:
    city = embedded("helsinki").providers[0]  # type: ignore[attr-defined]
    points = [place.at for _, place in sorted(city.places.items())[::40]][:30]
    points.append(points[0])
    table = answered(city.matrix(points), is_local=True).value
    assert table == answered(Embedded.matrix(city, points), is_local=True).value


def test_metres_in_a_train_are_no_metres_on_foot() -> None:
    trip = trip_of(
        area="japan", mode="rail", hotel="Tokyo Station", places=["Ueno Station", "新宿駅"], max_walk_m=100
    )
    _, plan, verification = planned(trip)
    assert (plan.status, verification.violations) == ("planned", ())
    assert not is_ruled_out(answered(problem_of(trip), is_local=True))


def test_a_place_to_which_no_way_leads_is_refused_even_with_the_shortest_estimates_and_named() -> None:
    trip = trip_of(area="japan", mode="walk", hotel="Tokyo Station", places=["Tokyo Tower", "Kyoto Station"])
    found, plan, _ = planned(trip)
    assert (plan.status, plan.conflict) == ("refused", ("no_way",))
    assert found.search.holds_at_best
    assert not found.search.is_proven
    assert [(left.place, left.reason) for left in found.left_out] == [
        ("Kyoto Station", "no way leads there by walk")
    ]
