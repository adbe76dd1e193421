"""Measures how many planted faults the itinerary verifier finds by their code, and its false alarms.

python bench/itinerary_faults.py [--tasks 300]
"""

import argparse
from collections import Counter

from gnomon.benchmarks.itinerary.generate import task_for
from gnomon.benchmarks.itinerary.task import numbers
from tests.gnomon.itinerary.test_itinerary_benchmark import faulty
from tools.itinerary.draft import plan_of, read_draft
from tools.itinerary.provider import answered
from tools.itinerary.verify.verify import verify_plan


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=300)
    given = parser.parse_args()
    caught, planted, alarms = Counter(), Counter(), 0
    for number in numbers(0, ("city-day",), ("helsinki",), given.tasks):
        task = task_for(number)
        plan = answered(plan_of(read_draft(task.witness), task.trip), is_local=True)
        alarms += bool(answered(verify_plan(plan, task.trip), is_local=True)[1].violations)
        for name, (code, changed) in faulty(plan.model_dump(mode="json"), task).items():
            planted[name] += 1
            caught[name] += code in answered(verify_plan(changed, task.trip), is_local=True)[1].failed
    for name in planted:
        print(f"{name:14} {caught[name]}/{planted[name]}")
    print(f"caught {caught.total()}/{planted.total()}, false alarms {alarms}/{given.tasks}")


if __name__ == "__main__":
    main()
