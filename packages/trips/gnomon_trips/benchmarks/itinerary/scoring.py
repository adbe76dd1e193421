"""Scores a response by the verifier, the exact optimum and mechanical truth; and what heuristics score."""

import json
import random
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from gnomon.core.answers import answers_of
from gnomon.core.plan_row import NOT_DELIVERED
from gnomon.core.score import REMARK, UNCHECKED, Score
from gnomon_trips.benchmarks.itinerary.city_day import draft_text
from gnomon_trips.benchmarks.itinerary.plan_row import (
    UNPROVEN,
    WRONG_INCLUSIONS,
    WRONG_ORDER,
    WRONG_TRANSITIONS,
)
from gnomon_trips.benchmarks.itinerary.steps import STEPS, film_rates, steps_of
from gnomon_trips.benchmarks.itinerary.talks import common_length, score_of_talk
from gnomon_trips.benchmarks.itinerary.task import Task
from gnomon_trips.itinerary.draft import DraftDay, DraftPlan, DraftVisit, plan_of, read_draft, read_object
from gnomon_trips.itinerary.errors import PlaceError
from gnomon_trips.itinerary.facts import Facts, facts_of
from gnomon_trips.itinerary.hours import clock_of, minutes_of, told_hours
from gnomon_trips.itinerary.plan import Plan, Search, sources_of
from gnomon_trips.itinerary.problem import Problem, problem_of
from gnomon_trips.itinerary.proof import is_conflict
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.published import published_criteria
from gnomon_trips.itinerary.quality import ground_of, measures
from gnomon_trips.itinerary.schedule import DayProblem, first_fit
from gnomon_trips.itinerary.selection import as_planned
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.check_kinds import codes_of
from gnomon_trips.itinerary.verify.verify import applicable, verify
from gnomon_trips.itinerary.verify.violation import Verification

QUALITY = "quality_"
"""What the metrics that hold a measure of quality begin with."""
Metrics = dict[str, float | str | None]


def score(task: Task, response: str, *, has_quality: bool = True, shown: Sequence[str] = ()) -> Score:
    """1 for what passes every check, or is refused with proof, else 0; F1 for graphs.

    With `has_quality` the quality of a plan is measured too; it never changes the score. `shown` are the
    places that a film is known to show. Scored None where the provider failed: that is never the model's
    fault.
    """
    if task.turns:
        tasks = [task, *(turn.task for turn in task.turns)]
        answers = answers_of(response)[-len(tasks) :]
        turns = zip(tasks[-len(answers) :], answers, strict=True)
        return score_of_talk(
            task, [_one(turn, said, has_quality=has_quality and turn is tasks[-1]) for turn, said in turns]
        )
    return _one(task, response, has_quality=has_quality, shown=shown)


def _one(task: Task, response: str, *, has_quality: bool, shown: Sequence[str] = ()) -> Score:
    if task.form == "order":
        return _order(task, response)
    if task.form == "graph":
        return _graph(task, response)
    draft = read_draft(response)
    if isinstance(draft, str):
        metrics = {"delivered": 0.0, **_refusal(task.trip, is_refused=False), **_nothing_kept(task.trip)}
        return Score(value=0.0, metrics=metrics, flags=(f"{NOT_DELIVERED}: {draft}"[:200],))
    try:
        plan = _plan(task, draft, has_quality=has_quality, shown=shown)
        return answered(plan, is_local=task.trip.provider.is_local)
    except PlaceError as error:
        return Score(value=None, reason=f"{error.code}: {error}")


async def _plan(task: Task, draft: DraftPlan, *, has_quality: bool, shown: Sequence[str]) -> Score:
    whole = task.trip
    trip = await as_planned(draft, whole)
    plan = await plan_of(draft, trip)
    facts = await facts_of(trip, plan)
    verification = verify(plan, trip, facts)
    metrics: Metrics = {
        "delivered": 1.0,
        "refused": float(plan.status == "refused"),
        "answerable": None if trip.answerable is None else float(trip.answerable),
        **_refusal(trip, is_refused=plan.status == "refused"),
        **(await film_rates(whole, shown) if shown else {}),
    }
    if plan.status == "refused":
        search = await _search_of(task, trip, plan)
        proven = search.holds_at_best
        metrics["conflict_proven"] = float(search.is_proven)
        plan = plan.model_copy(update={"search": search})
        metrics |= _nothing_kept(trip)
        others = await _instead(plan, trip, is_proven=proven) if task.family == "request" else {}
        scored = _scored(proven, plan, verification, metrics, trip, others)
        return scored if proven else replace(scored, flags=(*scored.flags, UNPROVEN))
    ground = await ground_of(plan, trip, facts) if has_quality and plan.days else None
    quality = measures(ground) if ground else ()
    metrics |= _measured(plan, verification)
    if verification.final_pass and task.optimum_m:
        walked = sum(leg.metres for day in plan.days for leg in day.legs)
        metrics["regret"] = max(0.0, walked / task.optimum_m - 1)
    if task.family == "request":
        metrics |= steps_of(plan, whole, facts)
    metrics |= {f"{QUALITY}{measure.name}": measure.value for measure in quality}
    metrics |= published_criteria(ground) if ground else {}
    details: dict[str, Any] = {"quality": [asdict(measure) for measure in quality]} if quality else {}
    if task.family == "request":
        details["open"] = _opened(plan, facts)
        details["contacts"] = {
            key: dict(facts.places[key].contacts) for key in details["open"] if key in facts.places
        }
    return _scored(verification.final_pass, plan, verification, metrics, trip, details)


async def _instead(plan: Plan, trip: Trip, *, is_proven: bool) -> dict[str, Any]:
    """What can be served instead of a refused request; unless the refusal is proven, with the best part."""
    from gnomon_trips.itinerary.alternatives import (
        nearest_requests,  # late: it loads SciPy, for refusals alone
    )

    nearest = await nearest_requests(trip, plan.conflict or ())
    fields: dict[str, Any] = {"alternatives": nearest.as_json(with_part=not is_proven)}
    if not is_proven and nearest.part is not None:
        fields["open"] = _opened(nearest.part, await facts_of(trip, nearest.part))
    return fields


def _refusal(trip: Trip, *, is_refused: bool) -> Metrics:
    """Indicators whose means are precision (over refusals) and recall (over trips that cannot be)."""
    if trip.answerable is None:
        return {}
    return {
        "refusal_precision": float(not trip.answerable) if is_refused else None,
        "refusal_recall": None if trip.answerable else float(is_refused),
    }


def _scored(
    is_right: bool,
    plan: Plan,
    verification: Verification,
    metrics: Metrics,
    trip: Trip,
    details: Mapping[str, Any],
) -> Score:
    result = {
        "plan": plan.model_dump(mode="json"),
        "violations": [asdict(violation) for violation in verification.violations],
        "unchecked": [asdict(unchecked) for unchecked in verification.unchecked],
        "verified_by": "; ".join(sources_of(plan)) or verification.version,
        "open": {},
        "steps": {name: value for name, value in metrics.items() if name.startswith(STEPS)},
        "request": trip.request.model_dump(mode="json", exclude_defaults=True),
        **({"asked": trip.asked.model_dump(mode="json", exclude_defaults=True)} if trip.asked else {}),
        **details,
    }
    return Score(
        value=float(is_right),
        answer=json.dumps(result, ensure_ascii=False),
        metrics=metrics,
        flags=(
            *sorted(verification.failed),
            *_flagged(REMARK, (one.code for one in verification.violations if one.severity == "warn")),
            *_flagged(UNCHECKED, (one.code for one in verification.unchecked)),
        ),
    )


def _flagged(prefix: str, codes: Iterable[str]) -> list[str]:
    """Remarks that are no errors, as flags."""
    return [f"{prefix}{code}" for code in sorted(set(codes))]


def _nothing_kept(trip: Trip) -> Metrics:
    """The checks of a request, none of which holds, where there is no plan although one exists."""
    if trip.answerable is False:
        return {}
    applied = applicable(trip.request)
    hard = sum(code in codes_of("hard") for code in applied)
    common = sum(code in codes_of("common") for code in applied)
    zeros: Metrics = {"common_held": 0.0, "hard_held": 0.0}
    return {**zeros, "common_checked": float(common), "hard_checked": float(hard)}


def _opened(plan: Plan, facts: Facts) -> dict[str, dict[str, str]]:
    """The hours of every visited place on the day of its visit, in words, by id and date."""
    hours_by_place: dict[str, dict[str, str]] = {}
    for day in plan.days:
        for visit in day.visits:
            hours = told_hours(facts.hours(visit.place.id, day.date))
            hours_by_place.setdefault(visit.place.id, {})[day.date.isoformat()] = hours
    return hours_by_place


def _measured(plan: Plan, verification: Verification) -> Metrics:
    stops = [visit.place for day in plan.days for visit in day.visits]
    made_up = [stop for stop in stops if stop.id.startswith("unknown:")]
    claims = {"LEG_CLAIM", "COST_CLAIM", "SUM"}
    common, hard = codes_of("common"), codes_of("hard") & {*verification.checked}
    span = [
        minutes_of(day.visits[-1].leave) - minutes_of(day.visits[0].arrive) for day in plan.days if day.visits
    ]
    stays = [minutes_of(v.leave) - minutes_of(v.arrive) for day in plan.days for v in day.visits]
    return {
        **_counted("common", verification, common),
        **_counted("hard", verification, hard),
        "common_micro": verification.micro_of(common),
        "common_macro": float(verification.macro),
        "hard_micro": verification.micro_of(hard) if hard else None,
        "hard_macro": float(verification.hard_pass),
        "final_pass": float(verification.final_pass),
        "impossible": float("IMPOSSIBLE" in verification.failed),
        "infeasible_by_provider": float(bool(verification.failed & {"TRAVEL_TIME", "OPEN_HOURS", "MODE"})),
        "made_up_places": len(made_up) / len(stops) if stops else None,
        "false_claims": float(bool(verification.failed & claims)),
        "idle_share": 1 - sum(stays) / sum(span) if sum(span) > 0 else None,
    }


def _counted(group: str, verification: Verification, codes: Collection[str]) -> Metrics:
    """How many checks of a group apply and could be made, and how many of these hold."""
    applied = set(codes) & set(verification.checked) - verification.undecided
    held = len(applied - verification.failed)
    return {f"{group}_held": float(held), f"{group}_checked": float(len(applied))}


PROOF_S = 20.0
"""How long the scorer searches for the proof of a refusal."""


async def _search_of(task: Task, trip: Trip, plan: Plan) -> Search:
    """Whether the constraints that a refusal names rule out every plan, wherever one eats and sleeps.

    Where ways are estimates it must be so with the shortest ways that may be, and is not called a proof.
    """
    seconds = plan.search.seconds if plan.search else 0.0
    if not plan.conflict or not trip.places():
        return Search(is_proven=False, seconds=seconds)
    problem = task.problem or await problem_of(trip)
    until = time.monotonic() + PROOF_S
    holds = is_conflict(problem.favourable, plan.conflict, lambda: time.monotonic() > until)
    spread_min = problem.spread_min
    return Search(
        is_proven=holds and not spread_min, spread_min=spread_min, holds_at_best=holds, seconds=seconds
    )


def _undelivered(response: str, form: str) -> Score:
    why = f"there is no {form} in the answer" if response.strip() else "the answer is empty"
    return Score(value=0.0, metrics={"delivered": 0.0}, flags=(f"{NOT_DELIVERED}: {why}",))


def _order(task: Task, response: str) -> Score:
    reply = read_object(response, ("order",))
    order = reply.get("order") if reply else None
    if not isinstance(order, list) or not all(isinstance(name, str) for name in order):
        return _undelivered(response, "order")
    names = [_plain(task, name) for name in order]
    truth = [_plain(task, name) for name in task.truth["order"]]
    return Score(
        value=float(names == truth),
        answer=json.dumps(order, ensure_ascii=False),
        metrics={
            "delivered": 1.0,
            "must_visit_recall": len(set(names) & set(truth)) / len(truth),
            "common_subsequence": common_length(names, truth) / len(truth),
        },
        flags=tuple(_order_faults(names, truth)),
    )


def _order_faults(names: list[str], truth: list[str]) -> Iterator[str]:
    """What is wrong with an order; of the right places in another order, that alone."""
    if any(name.startswith("unknown:") for name in names):
        yield "KNOWN_PLACE"
    if set(truth) - set(names):
        yield "MUST_VISIT"
    if len(set(names)) < len(names):
        yield "DUPLICATE"
    if sorted(names) == sorted(truth) and names != truth:
        yield WRONG_ORDER


def _plain(task: Task, name: str) -> str:
    """Id or name, with or without "Station", as the id it means."""
    for requested_name, place in task.trip.named.items():
        if name.strip().casefold() in (
            requested_name.casefold(),
            place.id,
            place.name.casefold(),
            *place.also,
        ):
            return place.id
    return f"unknown:{name}"


def _graph(task: Task, response: str) -> Score:
    reply = read_object(response, ("inclusions", "transitions"))
    if reply is None:
        return _undelivered(response, "graph")
    f1 = {kind: _f1(reply.get(kind), task.truth[kind]) for kind in ("inclusions", "transitions")}
    return Score(
        value=sum(f1.values()) / len(f1),
        answer=json.dumps({kind: reply.get(kind) for kind in f1}, ensure_ascii=False),
        metrics={"delivered": 1.0, **{f"{kind}_f1": value for kind, value in f1.items()}},
        flags=tuple(WRONG_EDGES[kind] for kind, value in f1.items() if value < 1.0),
    )


WRONG_EDGES = {"inclusions": WRONG_INCLUSIONS, "transitions": WRONG_TRANSITIONS}


def _f1(edge_rows: object, truth: Any) -> float:
    """F1 of edges; an edge that is listed twice counts once."""
    rows = edge_rows if isinstance(edge_rows, list) else []
    edges = {tuple(row) for row in rows if isinstance(row, list) and [type(end) for end in row] == [str, str]}
    true_edges = {tuple(edge) for edge in truth}
    right = len(edges & true_edges)
    return 2 * right / (len(edges) + len(true_edges)) if edges or true_edges else 1.0


POLICIES = ("random", "nearest_neighbour", "earliest_closing", "exact")


def floors_of(task: Task) -> dict[str, float]:
    """What each policy scores on a generated task, by its name in reports; empty for a user's request."""
    if not task.witness:
        return {}
    if task.turns:  # policies answer the last turn alone
        task = task.turns[-1].task
    scores = {"exact search (ceiling)": _value_of(task, task.witness)}
    if task.form == "plan":
        scores["always refuse"] = float(task.trip.answerable is False)
    if task.problem is not None:
        for policy in POLICIES[:3]:
            scores[policy.replace("_", " ")] = _value_of(task, play(policy, task))
    return scores


def _value_of(task: Task, answer: str) -> float:
    return score(task, answer, has_quality=False).value or 0.0


def play(policy: str, task: Task, *, seed: int = 0) -> str:
    """What a policy answers. Only `exact` ever refuses; the others write down the order they took.

    Raises:
        ValueError: the policy does not exist, or the task is not a plan of days.
    """
    if policy not in POLICIES:
        raise ValueError(f"no policy {policy!r}; there are: {', '.join(POLICIES)}")
    if policy == "exact":
        return task.witness
    if task.problem is None:
        raise ValueError(f"{task.family} is no plan of days")
    days = task.problem.days()
    chance = random.Random(f"{seed} {task.trip.request.id}")
    drafted: list[DraftDay] = []
    left = list(range(len(task.problem.places)))
    share = -(-len(left) // len(days))
    if policy == "random":
        chance.shuffle(left)
    for day in days:
        order = _ordered(policy, day, left)[:share]
        left = [spot for spot in left if spot not in order]
        drafted.append(_written(task.problem, day, order))
    return draft_text(DraftPlan(days=drafted))


def _ordered(policy: str, day: DayProblem, left: list[int]) -> list[int]:
    if policy == "random":
        return list(left)
    if policy == "earliest_closing":
        return sorted(left, key=lambda spot: (_closing(day, spot), spot))
    order: list[int] = []
    at = len(day.spots)
    waiting = list(left)
    while waiting:
        nearest = min(waiting, key=lambda spot: (_metres(day, at, spot), spot))
        waiting.remove(nearest)
        order.append(nearest)
        at = nearest
    return order


def _closing(day: DayProblem, spot: int) -> int:
    hours = day.spots[spot].open_min
    return max((end for _, end in hours), default=0) if hours is not None else day.end_min


def _metres(day: DayProblem, start: int, end: int) -> float:
    metres = day.metres[start][end]
    return float("inf") if metres is None else metres


def _written(problem: Problem, day: DayProblem, order: list[int]) -> DraftDay:
    """The order with the earliest times, waiting for doors to open; a closed door is visited all the same."""
    visits: list[DraftVisit] = []
    clock, at = day.start_min, len(day.spots)
    for spot in order:
        clock += day.minutes[at][spot] or 0
        fit = first_fit(day.spots[spot], clock)
        arrive = clock if fit is None else fit
        clock = arrive + day.spots[spot].stay_min
        at = spot
        visits.append(
            DraftVisit(place=problem.places[spot].id, arrive=clock_of(arrive), leave=clock_of(clock))
        )
    return DraftDay(visits=visits)
