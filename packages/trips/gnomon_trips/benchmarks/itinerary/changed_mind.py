"""Draws trips whose traveller changes their mind: one to three changes in words, each solved exactly."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.core.answers import joined_answers
from gnomon_trips.benchmarks.itinerary.city_day import (
    Drawn,
    changed,
    draw,
    refusal_of,
    task_of,
    trip_to,
)
from gnomon_trips.benchmarks.itinerary.pool import Pool
from gnomon_trips.benchmarks.itinerary.sayings import SAYINGS, changes_in
from gnomon_trips.benchmarks.itinerary.task import Task, Turn
from gnomon_trips.itinerary.hours import clock_of, minutes_of
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.problem import Problem, problem_of
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.solve import solve

FAMILY = "changed-mind"
IMPOSSIBLE = 0.25
"""The share of tasks whose last change nobody can serve."""
ROOMY = 1.3
"""Caps of the first request over its optimum: changes must find room."""
ONE_DAY, TWO_DAYS = (4, 6), (6, 8)
Gaps = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Talk:
    """The request so far, its optimum, and all places that were named."""

    drawn: Drawn
    named: Mapping[str, Place]
    pool: Pool
    chance: random.Random

    @property
    def request(self) -> TripRequest:
        return self.drawn.trip.request


def draw_changed_mind(chance: random.Random, pool: Pool, *, request_id: str) -> Task:
    """A task of two to four turns.

    Raises:
        RuntimeError: nothing fits in the city.
    """
    while True:
        days = chance.choice((1, 2))
        places = ONE_DAY if days == 1 else TWO_DAYS
        first = _roomy(draw(chance, pool, days=days, places=places, request_id=request_id))
        talk = _Talk(drawn=first, named=dict(first.trip.named), pool=pool, chance=chance)
        count, is_impossible = chance.randint(1, 3), chance.random() < IMPOSSIBLE
        turns: list[Turn] = []
        while len(turns) < count:
            wants_none = is_impossible and len(turns) == count - 1
            drawn = _impossible_turn(talk) if wants_none else _turn(talk)
            if drawn is None:
                break
            turn, talk = drawn
            turns.append(turn)
        if len(turns) == count:
            task = task_of(FAMILY, first)
            witnesses = [task.witness, *(turn.task.witness for turn in turns)]
            return replace(task, turns=tuple(turns), witness=joined_answers(witnesses))


def _roomy(drawn: Drawn) -> Drawn:
    longest = max(walk.metres for walk in drawn.rounds)
    budget = {"amount": math.ceil(ROOMY * drawn.problem.cost()), "currency": "EUR"}
    problem = changed(drawn, max_walk_m=math.ceil(ROOMY * longest / 100) * 100, budget=budget)
    return Drawn(problem=problem, rounds=drawn.rounds)


def _turn(talk: _Talk) -> tuple[Turn, _Talk] | None:
    """A change that can be served, of a kind drawn evenly among those that can."""
    for kind, gaps in _changes(talk):
        said, trip_now = _after(talk, kind, gaps)
        if trip_now is None:
            continue
        named, fields, problem = trip_now
        rounds = solve(problem).rounds
        if rounds is None or not all(walk.stays for walk in rounds):
            continue
        drawn = Drawn(problem=problem, rounds=rounds)
        task = task_of(FAMILY, drawn)
        return Turn(said=said, task=task, fields=fields), replace(talk, drawn=drawn, named=named)
    return None


def _impossible_turn(talk: _Talk) -> tuple[Turn, _Talk] | None:
    """Draw a change that no plan can serve beside what still holds, with the constraints in conflict."""
    for kind, gaps in _bites(talk):
        said, trip_now = _after(talk, kind, gaps)
        if trip_now is None:
            continue
        named, fields, problem = trip_now
        solution = solve(problem)
        if solution.rounds is not None or not solution.conflict:
            continue
        task = refusal_of(FAMILY, problem, solution.conflict)
        return Turn(said=said, task=task, fields=fields), replace(talk, named=named)
    return None


def _after(
    talk: _Talk, kind: str, gaps: Mapping[str, Any]
) -> tuple[str, tuple[dict[str, Place], frozenset[str], Problem] | None]:
    """A sentence, and the problem that it makes; None where the request would not be allowed."""
    said = SAYINGS[kind].say(**gaps)
    before = talk.request.model_dump(mode="json")
    fields = changes_in(before, said)
    request = TripRequest.model_validate({**before, **fields})
    named = dict(talk.named)
    if "other" in gaps:
        place = next(one for one in _others(talk) if one.name == gaps["other"])
        named[place.name] = place
    trip = trip_to(talk.pool, request, list(named.values()))
    return said, (named, frozenset(fields), answered(problem_of(trip), is_local=True))


def _changes(talk: _Talk) -> Iterator[tuple[str, Gaps]]:
    """Every kind of change once or more, in drawn order of kinds."""
    chance, request, drawn = talk.chance, talk.request, talk.drawn
    sequence, others = drawn.sequence(), _others(talk)
    longest = max(walk.metres for walk in drawn.rounds)
    last_back = max(walk.back_min for walk in drawn.rounds)
    first_out = min(walk.stays[0].arrive_min for walk in drawn.rounds if walk.stays)
    by_kind: dict[str, Sequence[Gaps]] = {
        "swap": [{"place": chance.choice(sequence), "other": chance.choice(others).name} for _ in range(4)]
        if others
        else [],
        "leave_out": [{"place": chance.choice(sequence)}] if len(sequence) > 3 else [],
        "add": [{"other": chance.choice(others).name} for _ in range(4)] if others else [],
        "order": [
            {"first": sequence[later], "then": sequence[earlier]}
            for earlier, later in _pairs(chance, len(sequence))
            if (sequence[earlier], sequence[later]) not in request.order
        ][:4],
        "back_by": [
            {"end": clock_of(minute)} for minute in (last_back // 15 * 15, last_back // 15 * 15 + 15)
        ],
        "leave_late": [{"start": clock_of(first_out + 30 - first_out % 30)}],
        "walk": [{"km": f"{math.ceil(1.08 * longest / 100) / 10:g}"}],
        "spend": [{"amount": math.ceil(1.05 * drawn.problem.cost()), "currency": "EUR"}],
        "day_less": [{}] if request.days > 1 else [],
        "one_more": [{"party": request.party + 1}],
    }
    kinds = list(by_kind)
    chance.shuffle(kinds)
    for kind in kinds:
        for gaps in by_kind[kind]:
            if _is_new(talk, kind, gaps):
                yield kind, gaps


def _bites(talk: _Talk) -> Iterator[tuple[str, Gaps]]:
    """Changes that go slightly too far."""
    request, drawn = talk.request, talk.drawn
    stays = sum(request.rules.stay_min(place.kind) for place in drawn.problem.places)
    longest = max(walk.metres for walk in drawn.rounds)
    start = minutes_of(request.window.start)
    early = (start + stays // request.days - 10) // 15 * 15
    tight: list[tuple[str, Gaps]] = [
        ("walk", {"km": f"{math.floor(0.9 * longest / 100) / 10:g}"}),
        ("back_by", {"end": clock_of(early)}),
    ]
    if drawn.problem.cost() >= 2:
        tight.append(("spend", {"amount": math.floor(0.9 * drawn.problem.cost()), "currency": "EUR"}))
    if request.days > 1:
        tight.append(("day_less", {}))
    if request.budget and drawn.problem.cost() * (request.party + 1) / request.party > request.budget.amount:
        tight.append(("one_more", {"party": request.party + 1}))
    talk.chance.shuffle(tight)
    for kind, gaps in tight:
        if kind != "back_by" or early > start:
            yield kind, gaps


def _is_new(talk: _Talk, kind: str, gaps: Mapping[str, Any]) -> bool:
    """Whether it takes back nothing that was said before: caps only get tighter."""
    request = talk.request
    fields = changes_in(request.model_dump(mode="json"), SAYINGS[kind].say(**gaps))
    if "window" in fields:
        window = fields["window"]
        shorter = minutes_of(window["end"]) - minutes_of(window["start"])
        return 0 < shorter < minutes_of(request.window.end) - minutes_of(request.window.start)
    if "max_walk_m" in fields:
        return request.max_walk_m is None or fields["max_walk_m"] < request.max_walk_m
    if "budget" in fields:
        return request.budget is None or fields["budget"]["amount"] < request.budget.amount
    return True


def _pairs(chance: random.Random, count: int) -> list[tuple[int, int]]:
    pairs = [(earlier, later) for later in range(count) for earlier in range(later)]
    chance.shuffle(pairs)
    return pairs


def _others(talk: _Talk) -> list[Place]:
    """Sights near the hotel that nobody has named yet, without quotation marks in their names."""
    hotel = talk.drawn.trip.hotel
    near = talk.pool.around(hotel, talk.pool.sights) if hotel else []
    return [place for place in near if place.name not in talk.named and not set("“”") & set(place.name)]
