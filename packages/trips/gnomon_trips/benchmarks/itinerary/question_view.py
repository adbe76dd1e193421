"""Shows a person a trip that is asked for: the request in words, its places on the Earth, and plans.

Times are seconds after the first day's midnight.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gnomon.core.answers import answers_of
from gnomon.core.plan_row import number_of
from gnomon.core.question_view import NO_ANSWER, QuestionView, ShownClip, missing_fact
from gnomon.core.sample import ImageRef, Sample
from gnomon_tools.core.json_text import json_value
from gnomon_tools.core.sketch import XY, Dot, Line, Mark, Role, Sketch, Span
from gnomon_trips.benchmarks.itinerary.brief import Brief
from gnomon_trips.benchmarks.itinerary.task import Task
from gnomon_trips.itinerary.draft import DraftPlan, DraftVisit, read_draft, read_object
from gnomon_trips.itinerary.hours import clock_of, minutes_of
from gnomon_trips.itinerary.place import Place
from gnomon_trips.itinerary.plan import Plan, Stop, Visit
from gnomon_trips.itinerary.request import TripRequest
from gnomon_trips.itinerary.trip import Trip

DAY_S = 86_400
_TIME = re.compile(r"(\d+(?:\.\d+)?) s")
_UNPLACED = ("unknown:", "ambiguous:")


def question_view(sample: Sample) -> QuestionView:
    """The request in words with what must be kept, and its home and places."""
    brief: Brief | None = sample.target.get("brief")
    if brief is not None:
        return _brief_view(sample, brief)
    task: Task = sample.target["task"]
    last = task.turns[-1].task if task.turns else task
    return QuestionView(
        question=_asked(task),
        truth_text=_truth_text(last),
        seen=Sketch(plane="earth", marks=tuple(_places(last.trip))),
        truth=_truth(last),
        facts={**dict(_must_haves(task)), **missing_fact(sample)},
    )


def _brief_view(sample: Sample, brief: Brief) -> QuestionView:
    images = tuple(part.content for part in sample.parts if isinstance(part.content, ImageRef))
    labels = [_TIME.fullmatch(part.content) for part in sample.parts if isinstance(part.content, str)]
    times_s = tuple(float(label[1]) for label in labels if label)
    clips: tuple[ShownClip, ...] = ()
    if brief.film:
        shown = ShownClip(path=brief.film, caption=brief.film.name, frame_times_s=times_s, frames=images)
        clips = (shown,)
    return QuestionView(
        question=brief.text or "A trip to the places of a film.",
        clips=clips,
        facts={name.replace("_", " ").capitalize(): _in_words(value) for name, value in brief.fields.items()},
    )


def _in_words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _asked(task: Task) -> str:
    request = task.trip.request
    days = "one day" if request.days == 1 else f"{request.days} days"
    area = request.area.title()
    if task.form == "order":
        return (
            f"Order the places of a trip by rail in {area} so that no hop takes more than"
            f" {request.max_leg_min} minutes."
        )
    if task.form == "graph":
        return f"Give the visiting order of a trip in {area}: what lies in what, and what comes after what."
    party = "" if request.party == 1 else f" for {request.party} people"
    change = "Change the plan of" if "change" in task.details else "Plan"
    by = {"walk": "on foot", "rail": "by rail"}.get(request.mode, f"by {request.mode}")
    when = f"{'on' if request.days == 1 else 'from'} {request.start_date:%A %d %B %Y}"
    return f"{change} {days} {by} in {area}, {when}{party}."


def _must_haves(task: Task) -> Iterator[tuple[str, str]]:
    request = task.trip.request
    yield "Dates", ", ".join(f"{date:%a %d %b %Y}" for date in request.dates())
    if request.hotel:
        yield "Home", request.hotel
    if request.ends_at:
        yield "Ends at", request.ends_at
    for name, texts in (("Must visit", request.places), ("Wishes", request.wishes), ("Avoid", request.avoid)):
        if texts:
            yield name, ", ".join(texts)
    if request.order:
        yield "Order", "; ".join(f"{before} before {after}" for before, after in request.order)
    if task.form == "plan":
        yield "Each day", request.hours_words()
    yield from _limits(request)
    if "change" in task.details:
        yield "Change asked for", _in_words(task.details["change"])
    for number, turn in enumerate(task.turns, 2):
        yield f"Turn {number}", turn.said
    for name, reason in task.trip.lost.items():
        yield f"Not found: {name}", reason


def _limits(request: TripRequest) -> Iterator[tuple[str, str]]:
    for meal in request.meals:
        yield meal.name.capitalize(), f"{meal.minutes} min between {meal.start} and {meal.end}"
    if request.budget:
        yield "Budget", f"{request.budget.amount:g} {request.budget.currency}"
    if request.rooms:
        yield "Rooms", str(request.rooms)
    if request.max_walk_m is not None:
        yield "Walking", f"at most {request.max_walk_m:,} m per day"
    if request.max_leg_min is not None:
        yield "Longest leg", f"{request.max_leg_min} min"


def _places(trip: Trip) -> Iterator[Mark]:
    for name, place in trip.named.items():
        label = f"home: {name}" if name == trip.request.hotel else name
        yield Dot(at=_at(place), label=label, role="asked")


def _at(place: Place) -> XY:
    return (place.at.lon_deg, place.at.lat_deg)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnVisit:
    """A stay of a plan: what it calls the place, where that is, and when, in minutes of its day."""

    name: str
    at: XY | None
    arrive_min: int
    leave_min: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnDay:
    """A day of a plan, as far as it can be drawn; `offset` counts days from the first."""

    offset: int
    start: XY | None
    end: XY | None
    visits: Sequence[DrawnVisit]


def days_sketch(days: Sequence[DrawnDay], role: Role = "result") -> Sketch:
    """A line for each day, a dot and a span for each visit."""
    marks: list[Mark] = []
    spans: list[Span] = []
    for day in days:
        chain = [day.start, *(visit.at for visit in day.visits), day.end]
        points = tuple(point for point in chain if point is not None)
        if len(points) > 1:
            marks.append(Line(points=points, label=f"day {day.offset + 1}", role=role, has_arrow=True))
        for number, visit in enumerate(day.visits, start=1):
            if visit.at is not None:
                marks.append(Dot(at=visit.at, label=f"{number} {visit.name}", role=role))
            if visit.leave_min >= visit.arrive_min:
                start_s, end_s = (
                    day.offset * DAY_S + 60 * minutes for minutes in (visit.arrive_min, visit.leave_min)
                )
                spans.append(Span(start_s=start_s, end_s=end_s, label=visit.name, role=role))
    return Sketch(plane="earth", marks=tuple(marks), spans=tuple(spans))


def _finder(trip: Trip) -> Mapping[str, Place]:
    """The places of a request by every name that a plan may call them."""
    by_name: dict[str, Place] = {}
    for name, place in trip.named.items():
        for key in (*place.also, place.name, place.id, name):
            by_name[key.casefold()] = place
    return by_name


def _drawn(visit: DraftVisit | Visit, name: str, at: XY | None) -> DrawnVisit:
    arrive_min, leave_min = minutes_of(visit.arrive), minutes_of(visit.leave)
    return DrawnVisit(name=name, at=at, arrive_min=arrive_min, leave_min=leave_min)


def _draft_days(draft: DraftPlan, trip: Trip) -> list[DrawnDay]:
    find = _finder(trip)
    days = []
    for offset, day in enumerate(draft.days):
        home, end = trip.home(offset, at_end=False), trip.home(offset, at_end=True)
        visits = []
        for visit in day.visits:
            place = find.get(visit.place.strip().casefold())
            name, at = (place.name, _at(place)) if place else (visit.place, None)
            visits.append(_drawn(visit, name, at))
        days.append(
            DrawnDay(
                offset=offset,
                start=_at(home) if home else None,
                end=_at(end) if end else None,
                visits=visits,
            )
        )
    return days


def _plan_days(plan: Plan) -> list[DrawnDay]:
    first = min((day.date for day in plan.days), default=None)
    return [
        DrawnDay(
            offset=(day.date - first).days if first else 0,
            start=_stop_at(day.start),
            end=_stop_at(day.end),
            visits=[_drawn(visit, visit.place.name, _stop_at(visit.place)) for visit in day.visits],
        )
        for day in plan.days
    ]


def _stop_at(stop: Stop) -> XY | None:
    return None if stop.id.startswith(_UNPLACED) else (stop.lon, stop.lat)


def _order_sketch(names: Sequence[str], trip: Trip) -> Sketch:
    find = _finder(trip)
    places = [(name, find[name.strip().casefold()]) for name in names if name.strip().casefold() in find]
    dots = [Dot(at=_at(place), label=f"{number} {name}") for number, (name, place) in enumerate(places, 1)]
    points = tuple(_at(place) for _, place in places)
    lines = [Line(points=points, has_arrow=True)] if len(points) > 1 else []
    return Sketch(plane="earth", marks=(*lines, *dots))


def _graph_sketch(transitions: object, trip: Trip) -> Sketch:
    find = _finder(trip)
    lines = []
    for edge in transitions if isinstance(transitions, Sequence) else ():
        if isinstance(edge, list | tuple) and [type(end) for end in edge] == [str, str]:
            ends = [find.get(end.strip().casefold()) for end in edge]
            points = tuple(_at(place) for place in ends if place is not None)
            if len(points) == 2:
                lines.append(Line(points=points, has_arrow=True))
    return Sketch(plane="earth", marks=tuple(lines))


def _truth(task: Task) -> Sketch:
    """A plan that passes every check, where one was found; the one right order or graph."""
    if task.form == "order":
        return _order_sketch(task.truth["order"], task.trip)
    if task.form == "graph":
        return _graph_sketch(task.truth["transitions"], task.trip)
    draft = read_draft(task.witness)
    return Sketch(plane="earth") if isinstance(draft, str) else days_sketch(_draft_days(draft, task.trip))


def _truth_text(task: Task) -> str:
    if task.form == "order":
        return " → ".join(task.truth["order"])
    if task.form == "graph":
        rows = [f"{outer} holds {inner}" for outer, inner in task.truth["inclusions"]]
        return "\n".join([*rows, *(f"{a} is followed by {b}" for a, b in task.truth["transitions"])])
    draft = read_draft(task.witness)
    if isinstance(draft, str):
        return ""
    if draft.status == "refused":
        return f"No plan keeps everything: {', '.join(draft.conflict)} cannot be kept together."
    lines = ["A plan that passes every check:"]
    for number, day in enumerate(_draft_days(draft, task.trip), start=1):
        stays = "; ".join(
            f"{visit.name} {clock_of(visit.arrive_min)} to {clock_of(visit.leave_min)}"
            for visit in day.visits
        )
        lines.append(f"Day {number}: {stays}")
    return "\n".join(lines)


def answer_sketch(sample: Sample, answer: str) -> Sketch:
    """The days of a plan, an order or a graph: of a stored answer, or of a whole reply."""
    plan = _stored_plan(answer)
    if plan is not None:
        return days_sketch(_plan_days(plan))
    task: Task | None = sample.target.get("task")
    if task is None:
        return Sketch()
    if task.form == "order":
        order = _stored_list(answer) or (read_object(answer, ("order",)) or {}).get("order")
        names = [name for name in order if isinstance(name, str)] if isinstance(order, list) else []
        return _order_sketch(names, task.trip)
    if task.form == "graph":
        graph = read_object(answer, ("inclusions", "transitions")) or {}
        return _graph_sketch(graph.get("transitions"), task.trip)
    trip = task.turns[-1].task.trip if task.turns else task.trip
    draft = read_draft(answers_of(answer)[-1])
    return Sketch() if isinstance(draft, str) else days_sketch(_draft_days(draft, trip))


def _stored_list(answer: str) -> list[Any]:
    stored = json_value(answer)
    return stored if isinstance(stored, list) else []


def _stored_plan(answer: str) -> Plan | None:
    stored = json_value(answer)
    try:
        return Plan.model_validate(stored["plan"]) if isinstance(stored, dict) and "plan" in stored else None
    except ValidationError:
        return None


def verdict_in_words(sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
    """Which checks a plan fails, whether a refusal is right, how much of an order or graph is."""
    if not answer or metrics.get("delivered") == 0.0:
        return NO_ANSWER
    task: Task | None = sample.target.get("task")
    if task is not None and task.form == "order":
        if list(task.truth["order"]) == _stored_list(answer):
            return "The order is right."
        share = number_of(metrics, "common_subsequence")
        return NO_ANSWER if share is None else f"{100 * share:.0f} % of the places are in the right order."
    if task is not None and task.form == "graph":
        inclusions, transitions = (number_of(metrics, f"{kind}_f1") for kind in ("inclusions", "transitions"))
        if inclusions is None or transitions is None:
            return NO_ANSWER
        return f"Inclusions: F1 {inclusions:.2f}; transitions: F1 {transitions:.2f}."
    return _plan_in_words(answer, metrics) + _turns_in_words(metrics)


def _turns_in_words(metrics: Mapping[str, float | str | None]) -> str:
    """Of a trip of several turns: how the first plan was, and whether something was forgotten on the way."""
    if "turns" not in metrics:
        return ""
    first = {1.0: " The first plan held.", 0.0: " The first plan did not hold."}
    forgot = " What was asked for earlier is forgotten." if metrics.get("forgets_earlier") == 1.0 else ""
    held = number_of(metrics, "first_holds")
    return (first.get(held, "") if held is not None else "") + forgot


def _plan_in_words(answer: str, metrics: Mapping[str, float | str | None]) -> str:
    if metrics.get("refused") == 1.0:
        answerable = number_of(metrics, "answerable")
        if answerable is None:
            return "Refused."
        if answerable:
            return "Refused, though there is a plan."
        if metrics.get("conflict_proven") == 0.0:
            return "Refused, and there is no plan; but what is named does not rule every plan out."
        return "Refused rightly: there is no plan."
    return _checks_in_words(json_value(answer))


def _checks_in_words(stored: Any) -> str:
    """The failed checks of a stored answer, the first with what was expected and found."""
    violations = stored.get("violations") if isinstance(stored, dict) else None
    if not isinstance(violations, list):
        return "Planned."
    failed = [
        violation
        for violation in violations
        if isinstance(violation, dict) and violation.get("severity") == "error"
    ]
    if not failed:
        return "Planned; every check passed."
    codes = ", ".join(dict.fromkeys(str(violation.get("code")) for violation in failed))
    first = f"expected {failed[0].get('expected')}, found {failed[0].get('found')}"
    faults = "1 fault" if len(failed) == 1 else f"{len(failed)} faults"
    return f"Planned, with {faults}: {codes} (first: {first})."
