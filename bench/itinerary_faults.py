"""Measures which planted faults the itinerary verifier finds, and how many true plans it accuses.

python -m bench.itinerary_faults [--tasks 300] [--honest 1000] [--folder FOLDER --area NAME]

First each kind of fault in a plan of two days; then 15 kinds in every generated plan of a day; then true
plans of the benchmark's generator, as exact search finds them, with true reasons beside each visit.
"""

import argparse
import copy
import datetime as dt
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from gnomon.benchmarks.itinerary.generate import task_for
from gnomon.benchmarks.itinerary.task import Task, numbers
from tests.gnomon.itinerary.test_itinerary_benchmark import faulty
from tests.tools.itinerary.planted_faults import IN_THE_CITY, ROAMING_FAULTS, UNKNOWN, city, judged, roaming
from tools.itinerary.draft import plan_of, read_draft
from tools.itinerary.facts import Facts, facts_of
from tools.itinerary.haversine import apart_m
from tools.itinerary.hours import DAY_MIN, clock_of
from tools.itinerary.plan import Plan
from tools.itinerary.provider import answered
from tools.itinerary.verify.verify import verify_plan


def kinds() -> Iterator[tuple[str, str, bool]]:
    """Each kind of fault with its code and whether it was caught; what is unknown counts if it is told."""
    for base, faults in ((city(), IN_THE_CITY), (roaming(), ROAMING_FAULTS)):
        for name, (code, change) in faults.items():
            plan, request = copy.deepcopy(base)
            change(plan, request)
            yield name, code, code in judged(plan, request).failed
    for name, (code, change) in UNKNOWN.items():
        plan, request = copy.deepcopy(city())
        change(plan, request)
        verdict = judged(plan, request)
        yield f"{name} (told)", code, code in verdict.undecided


def reasoned(plan: dict[str, Any], task: Task, chance: random.Random) -> dict[str, Any]:
    """The plan with a true reason for each visit: of its hours, its way, its price, its neighbours."""
    facts = answered(facts_of(task.trip, Plan.model_validate(plan)), is_local=True)
    for day in plan["days"]:
        for index, visit in enumerate(day["visits"]):
            reasons = list(_true_reasons(day, index, visit, task, facts))
            visit["why"] = "; ".join(chance.sample(reasons, min(len(reasons), chance.randint(0, 2))))[:200]
    return plan


def _true_reasons(
    day: dict[str, Any], index: int, visit: dict[str, Any], task: Task, facts: Facts
) -> Iterator[str]:
    yield "Asked for"
    yield "A favourite of many visitors"
    place = facts.places[visit["place"]["id"]]
    leg = day["legs"][index]
    if leg["metres"]:
        yield f"{leg['minutes']} min on foot from the stop before"
        yield f"only {leg['metres']} m away"
    hours = facts.hours(place.id, dt.date.fromisoformat(day["date"]))
    for start, end in hours or ():
        if end <= DAY_MIN:
            yield f"Open {clock_of(start)}-{clock_of(end)}"
            yield f"Opens at {clock_of(start)}"
            yield f"Open until {clock_of(end)}"
    price = task.trip.request.price(place.kind)
    if price:
        yield f"€{price / task.trip.request.party:g} each"
    for other in day["visits"]:
        near = facts.places[other["place"]["id"]]
        off_m = apart_m(place.at, near.at)
        if near.id != place.id and off_m < 350 and near.name[0].isupper():
            yield f"Next to {near.name}"
        if near.id != place.id and near.name[0].isupper():
            yield f"{off_m * 1.25:.0f} m from {near.name}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--honest", type=int, default=1000)
    parser.add_argument("--area", default="helsinki")
    parser.add_argument("--folder")
    given = parser.parse_args()
    missed = 0
    for name, code, is_caught in kinds():
        missed += not is_caught
        print(f"{'caught' if is_caught else 'MISSED':7} {code:22} {name}")
    print(
        f"kinds: {len(IN_THE_CITY) + len(ROAMING_FAULTS)} faults, {len(UNKNOWN)} unknowns; missed: {missed}"
    )
    caught, planted = Counter[str](), Counter[str]()
    for number in numbers(0, ("city-day",), (given.area,), given.tasks):
        task = task_for(number, given.folder)
        plan = answered(plan_of(read_draft(task.witness), task.trip), is_local=True)
        for name, (code, changed) in faulty(plan.model_dump(mode="json"), task).items():
            planted[name] += 1
            caught[name] += code in answered(verify_plan(changed, task.trip), is_local=True)[1].failed
    print(f"in {given.tasks} generated plans: caught {caught.total()} of {planted.total()}")
    honest(given.honest, given.area, given.folder)


def honest(count: int, area: str, folder: str | None) -> None:
    """Judges true plans, and prints what they were accused of and what was not known."""
    begin, chance = time.monotonic(), random.Random(0)
    accused, undecided, remarks = Counter[str](), Counter[str](), Counter[str]()
    plans = alarms = 0
    for family, share in (("city-day", 0.8), ("two-day", 0.2)):
        for number in numbers(1, (family,), (area,), round(count * share)):
            task = task_for(number, folder)
            plan = answered(plan_of(read_draft(task.witness), task.trip), is_local=True)
            value = reasoned(plan.model_dump(mode="json"), task, chance)
            verdict = answered(verify_plan(value, task.trip), is_local=True)[1]
            plans += 1
            alarms += bool(verdict.failed)
            accused.update(verdict.failed)
            undecided.update(verdict.undecided)
            remarks.update({one.code for one in verdict.violations if one.severity == "warn"})
            for one in verdict.violations:
                if one.severity == "error":
                    print(f"  accused: {number} {one}")
    print(f"{plans} true plans: {alarms} accused {dict(accused)}; {time.monotonic() - begin:.0f} s")
    print(f"could not be checked: {dict(undecided)}; remarks: {dict(remarks)}")


if __name__ == "__main__":
    main()
