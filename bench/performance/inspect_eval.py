"""Runs the workload in Inspect AI, in an environment of its own without Gnomon.

python bench/performance/inspect_eval.py BASE TRIALS IN_FLIGHT FOLDER

`inspect eval bench/performance/inspect_eval.py@quiz -T trials=6` runs it by Inspect AI's own command.
"""

import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, tool

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.meter import Meter
from bench.performance.workload import QUESTION


@tool
def speed() -> Tool:
    async def execute(distance_m: float, seconds: float) -> str:
        """Compute the mean speed over a distance in metres and a duration in seconds.

        Args:
            distance_m: how far
            seconds: how long
        """
        return f'{{"speed_mps": {distance_m / seconds}}}'

    return execute


@task
def quiz(trials: int) -> Task:
    """So many copies of the question."""
    samples = [Sample(id=number, input=QUESTION, target="B") for number in range(trials)]
    return Task(dataset=MemoryDataset(samples), solver=[use_tools(speed()), generate()], scorer=includes())


def run(base: str, trials: int, in_flight: int, folder: str) -> int:
    """How many samples were answered rightly."""
    model = get_model("openai-api/mock/mock", base_url=base, api_key="none")
    [log] = evaluate(
        quiz(trials),
        model=model,
        max_samples=in_flight,
        max_connections=in_flight,
        display="none",
        log_dir=folder,
        max_retries=0,
    )
    assert log.results is not None, log.error
    return round(log.results.scores[0].metrics["accuracy"].value * trials)


def main() -> None:
    base, trials, in_flight, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    run(base, 5, 5, folder)
    meter = Meter()
    meter.report(right=run(base, trials, in_flight, folder))


if __name__ == "__main__":
    main()
