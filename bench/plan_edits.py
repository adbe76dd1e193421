"""Edits each field of a plan and prints which edits the check finds, lists as unchecked, or lets pass.

    gnomon itinerary examples/itineraries/helsinki.json --out trip.json
    python -m bench.plan_edits trip.json

An edit is found where more fails than in the plan as it was. It is listed where more is unchecked than
before; what a plan says of its own search is always unchecked.
"""

import copy
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gnomon.core.errors import SpecError
from gnomon_trips.export.plan_check import CheckedPlan, check_plan

REASONS = (
    "you asked for a museum here",
    "as wished, a zoo",
    "the largest in the Nordic countries",
    "vegan, as you are",
    "next to Kiasma and open until 23:00",
    "only 50 m from the hotel",
    "free entry",
    "it is your birthday",
    "closed on Mondays",
    "asked for because the budget allows it",
)


UNMEASURED = ("plan.search", "quality", "verification")
"""What a plan says of itself: always listed as unchecked."""


def edits(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each edit with its path: fields changed, lists emptied, reasons invented, assumptions removed."""
    for path, value in _leaves(plan):
        for changed in _changes(value):
            yield path, _with(plan, path, changed)
    visit = "plan.days.0.visits.0.why"
    for reason in REASONS:
        yield f"{visit} = {reason}", _with(plan, visit, reason)
    for index in range(len(plan["plan"]["assumptions"])):
        lines = plan["plan"]["assumptions"]
        yield (
            f"plan.assumptions.{index} removed",
            _with(plan, "plan.assumptions", [*lines[:index], *lines[index + 1 :]]),
        )


def rebuilt(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Stops, ways and days that are dropped, doubled, swapped or put in; claims beside the plan."""
    day = plan["plan"]["days"][0]
    (first, second, *rest), (_, next_leg, *legs) = day["visits"], day["legs"]
    visits, at = "plan.days.0.visits", "plan.days.0"
    yield "a stop dropped", _with(plan, visits, [second, *rest])
    yield "a stop doubled", _with(plan, visits, [first, first, second, *rest])
    yield "two stops swapped", _with(plan, visits, [second, first, *rest])
    yield (
        "two places swapped",
        _with(
            plan,
            visits,
            [first | {"place": second["place"]}, second | {"place": first["place"]}, *rest],
        ),
    )
    yield "a name of another stop", _with(plan, f"{visits}.0.place.name", second["place"]["name"])
    yield "a reason of another stop", _with(plan, f"{visits}.0.why", f"{second['place']['name']} is near")
    yield "seen in a film", _with(plan, f"{visits}.0.origins", [{"basis": "seen", "from_s": 3}])
    yield "a price put in", _with(plan, f"{visits}.0.cost", {"amount": 5, "currency": "EUR"})
    yield "a way dropped", _with(plan, f"{at}.legs", [next_leg, *legs])
    yield "ways told of each other", _with(plan, f"{at}.legs.0.via", next_leg["via"] or ["Main Street"])
    yield "a day doubled", _with(plan, "plan.days", [day, *plan["plan"]["days"]])
    yield (
        "a night put in",
        _with(plan, f"{at}.night", {"place": first["place"], "basis": "chosen", "evidence": []}),
    )
    skipped = [{"place": first["place"]["name"], "reason": "no room was found for it"}]
    yield "a stop told as left out", _with(plan, "plan.skipped", skipped)
    yield "quality made better", _with(plan, "quality.0.value", 0.123)
    yield "verification turned", _with(plan, "verification.passes", not plan["verification"]["passes"])


def _leaves(plan: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of the plan, its first day, its first stop and way, and the hours of one place."""
    inner, day = plan["plan"], plan["plan"]["days"][0]
    for key in (
        "status",
        "request_id",
        "totals.minutes",
        "totals.metres",
        "attributions",
        "skipped",
        "search",
    ):
        yield f"plan.{key}", _at(inner, key)
    for key in inner["search"] or {}:
        yield f"plan.search.{key}", inner["search"][key]
    yield "plan.days.0.date", day["date"]
    for stop in ("start", "end", "visits.0.place"):
        for key, value in _at(day, stop).items():
            if key != "admin":
                yield f"plan.days.0.{stop}.{key}", value
    for key, value in day["visits"][0].items():
        if key not in ("place", "why"):
            yield f"plan.days.0.visits.0.{key}", value
    for key, value in day["legs"][0].items():
        yield f"plan.days.0.legs.0.{key}", value
    place, hours = next(iter(plan["open"].items()))
    yield f"open.{place}.{next(iter(hours))}", next(iter(hours.values()))


def _changes(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 40, value / 2 if isinstance(value, float) else value // 2]
    if isinstance(value, str):
        texts = {"planned": "refused", "network": "timetable", "walk": "car"}
        clock = f"0{int(value[:2]) - 4}{value[2:]}" if value[2:3] == ":" and len(value) == 5 else None
        return [texts.get(value) or clock or (f"{value[:-2]}28" if value[:2] == "20" else f"{value} Annex")]
    if isinstance(value, list):
        return [[], value[1:] if len(value) > 1 else ["Somewhere"]]
    return [None] if value is not None else ["Somewhere"]


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def _with(plan: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(plan)
    head, _, key = path.rpartition(".")
    owner = _at(changed, head)
    owner[int(key) if isinstance(owner, list) else key] = value
    return changed


def _states(checked: CheckedPlan) -> Counter[tuple[str, str, str]]:
    return Counter(
        (check.state, point.where, point.reason)
        for check in checked.checks
        for point in check.points
        if check.state in ("fails", "unchecked")
    )


def main(file: Path) -> None:
    """Print each edit with what became of it, then the counts."""
    plan = json.loads(file.read_text())
    before = _states(check_plan(plan))
    outcomes: Counter[str] = Counter()
    for path, edited in itertools.chain(edits(plan), rebuilt(plan)):
        if edited == plan:
            continue
        try:
            more = _states(check_plan(edited)) - before
            states = {state for state, *_ in more}
        except SpecError:
            states = {"fails"}
        listed = "unchecked" in states or (path.startswith(UNMEASURED) and "fails" not in states)
        outcome = "found" if "fails" in states else "listed" if listed else "PASSES"
        outcomes[outcome] += 1
        print(f"{outcome:7} {path}")
    counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    print(f"{sum(outcomes.values())} edits: {counts}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
