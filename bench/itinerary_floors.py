"""What needs no model: pass rates of the floors and the ceiling, and how many orders keep all constraints.

python bench/itinerary_floors.py [--tasks 300] [--city NAME --data FOLDER]
"""

import argparse
import statistics
import time

from gnomon.benchmarks.itinerary.generate import task_for
from gnomon.benchmarks.itinerary.scoring import POLICIES, chance_of_an_order, play, score
from gnomon.benchmarks.itinerary.task import numbers


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--city", default="helsinki")
    parser.add_argument("--data")
    given = parser.parse_args()
    started, used = time.perf_counter(), time.process_time()
    tasks = [task_for(one, given.data) for one in numbers(0, ("city-day",), (given.city,), given.tasks)]
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - used
    print(f"{len(tasks)} city-day tasks in {given.city}: {wall_s:.2f} s, {cpu_s:.2f} s of them computing")
    for policy in POLICIES:
        scores = [score(task, play(policy, task)) for task in tasks]
        passed = sum(one.value == 1 for one in scores)
        regrets = [one.metrics["regret"] for one in scores if "regret" in one.metrics]
        told = f", median regret {statistics.median(regrets):.3f} of {len(regrets)}" if regrets else ""
        print(f"{policy:18} {passed}/{len(tasks)} = {passed / len(tasks):.1%}{told}")
    some = [share for task in tasks[:100] if (share := chance_of_an_order(task.problem)) is not None]
    print(f"orders that keep all constraints: median {statistics.median(some):.1%} over {len(some)} tasks")


if __name__ == "__main__":
    main()
