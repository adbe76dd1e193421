"""The scheduler is exact: what it finds no other order beats, and what it refuses no order keeps."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_trips.itinerary.problem import Problem
from gnomon_trips.itinerary.proof import is_conflict
from gnomon_trips.itinerary.schedule import (
    MAX_SPOTS,
    DayProblem,
    Eating,
    Round,
    Spot,
    rounds,
)
from gnomon_trips.itinerary.solve import best_split, conflict_of, constraints, solve


def best_round(problem: DayProblem) -> Round | None:
    """The best round through all spots; None proves that there is none."""
    return rounds(problem).get((1 << len(problem.spots)) - 1)


@st.composite
def days(draw: st.DrawFn, most: int = 5) -> DayProblem:
    count = draw(st.integers(1, most))
    grid = [[draw(st.integers(1, 40)) for _ in range(count + 2)] for _ in range(count + 2)]
    metres = tuple(tuple(80 * one for one in row) for row in grid)
    spots = []
    for number in range(count):
        start = draw(st.integers(0, 300))
        hours = draw(st.sampled_from([None, ((start, start + 200),), ((0, 60), (start, 500))]))
        stay = draw(st.integers(5, 60))
        spots.append(Spot(id=str(number), stay_min=stay, open_min=hours, feeds=draw(st.booleans())))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] != p[1])
    return DayProblem(
        spots=tuple(spots),
        minutes=tuple(map(tuple, grid)),
        metres=metres,
        start_min=0,
        end_min=draw(st.integers(100, 600)),
        before=tuple(draw(st.lists(pairs, max_size=2))) if count > 1 else (),
        max_walk_m=draw(st.none() | st.integers(500, 12_000)),
        max_leg_min=draw(st.none() | st.integers(10, 40)),
        eating=draw(st.sampled_from([(), (Eating(start_min=100, end_min=300, minutes=20),)])),
        minute_m=draw(st.sampled_from([0, 40])),
    )


def in_order(day: DayProblem, order: Sequence[int]) -> Round | None:
    """The best round in that order; None where no times keep the rules."""
    chained = replace(day, before=(*day.before, *itertools.pairwise(order)))
    return rounds(chained).get((1 << len(day.spots)) - 1)


def cost_m(day: DayProblem, done: Round) -> int:
    return day.cost_m(done.metres, done.back_min)


@given(day=days())
def test_no_order_is_better_and_none_works_where_there_is_none(day: DayProblem) -> None:
    found = best_round(day)
    orders = itertools.permutations(range(len(day.spots)))
    others = [done for order in orders if (done := in_order(day, order)) is not None]
    if found is None:
        assert not others
    else:
        assert cost_m(day, found) == min(cost_m(day, one) for one in others)


@given(day=days(most=4), share=st.integers(1, 2))
def test_a_split_visits_everything_once_and_is_the_best(day: DayProblem, share: int) -> None:
    found = best_split([day] * (share + 1), day.before)
    table = rounds(day)
    whole = (1 << len(day.spots)) - 1
    if found is not None:
        seen = [stay.spot for one in found for stay in one.stays]
        assert sorted(seen) == list(range(len(day.spots)))
    if share == 1 and not day.before:
        sums = [
            cost_m(day, table[part]) + cost_m(day, table[whole ^ part])
            for part in range(whole + 1)
            if part in table and whole ^ part in table
        ]
        assert (found is None) == (not sums)
        if found is not None:
            assert sum(cost_m(day, one) for one in found) == min(sums)


def test_a_traveller_who_wants_the_evening_free_does_not_wait_for_a_shorter_walk() -> None:
    grid = ((0, 9, 5, 5), (9, 0, 5, 5), (5, 5, 0, 0), (5, 5, 0, 0))
    metres = ((0, 720, 80, 80), (720, 0, 400, 400), (80, 400, 0, 0), (80, 400, 0, 0))
    late = Spot(id="late", stay_min=30, open_min=((700, 900),))
    early = Spot(id="early", stay_min=30)
    day = DayProblem(spots=(late, early), minutes=grid, metres=metres, start_min=540, end_min=1200)
    ends = {}
    for minute_m in (0, 40):
        found = best_round(replace(day, minute_m=minute_m))
        assert found is not None
        ends[minute_m] = found.back_min
    assert ends[40] <= ends[0]
    assert ends[40] == 735  # the early one first, then the other as it opens


def test_one_waits_for_lunch_where_that_feeds() -> None:
    cafe = Spot(id="cafe", stay_min=20, open_min=((540, 900),), feeds=True)
    grid = ((0, 5, 5), (5, 0, 0), (5, 0, 0))
    lunch = Eating(start_min=690, end_min=870, minutes=45)
    day = DayProblem(spots=(cafe,), minutes=grid, metres=grid, start_min=540, end_min=1200, eating=(lunch,))
    found = best_round(day)
    assert found is not None
    assert (found.stays[0].arrive_min, found.stays[0].leave_min) == (690, 735)


def test_too_many_spots_are_refused() -> None:
    spot = Spot(id="s", stay_min=1)
    grid = tuple((0,) * (MAX_SPOTS + 3) for _ in range(MAX_SPOTS + 3))
    day = DayProblem(spots=(spot,) * (MAX_SPOTS + 1), minutes=grid, metres=grid, start_min=0, end_min=600)
    with pytest.raises(ValueError, match="allowed: up to 12"):
        rounds(day)


def test_a_conflict_rules_out_every_plan_and_loses_that_with_any_of_its_constraints(problem: Problem) -> None:
    request = problem.trip.request.model_copy(
        update={"order": [("Kiasma", "Ateneum"), ("Ateneum", "Amos Rex"), ("Amos Rex", "Kiasma")]}
    )
    tight = replace(problem, trip=replace(problem.trip, request=request))
    assert solve(tight).rounds is None
    conflict = conflict_of(tight)
    assert len(conflict) == 3
    assert is_conflict(tight, conflict)
    for one in conflict:
        assert not is_conflict(tight, set(conflict) - {one})
    assert not is_conflict(tight, {"the weather"})
    assert set(conflict) <= set(constraints(tight))


def test_a_place_to_be_visited_and_to_be_avoided_is_a_conflict_that_says_so(problem: Problem) -> None:
    request = problem.trip.request.model_copy(update={"avoid": ["Kiasma"]})
    torn = replace(problem, trip=replace(problem.trip, request=request))
    assert solve(torn).conflict == ("avoid:Kiasma",)


def test_a_fair_split_leaves_no_day_empty_but_keeps_what_is_possible(problem: Problem) -> None:
    fair, short = solve(problem, fair=True), solve(problem)
    assert fair.rounds is not None
    assert short.rounds is not None
    assert min(len(one.stays) for one in fair.rounds) >= 3
    assert short.metres <= fair.metres
