"""Audits TravelPlanner: what greedy rules reach, the plans of people, and names that mean several places."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample
from gnomon_trips.benchmarks.travelplanner.floors import floors_of
from gnomon_trips.benchmarks.travelplanner.loader import task_in
from gnomon_trips.sandbox.record import plain_words
from gnomon_trips.sandbox.rules import judge
from gnomon_trips.sandbox.scheduler import find_trip


def answer_options(sample: Sample) -> AnswerOptions | None:  # noqa: ARG001 (nothing is asked for by options)
    """Nothing: no task has options."""
    return None


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Plan greedily, or with what is listed first."""
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            for rule, value in floors_of(task_in(sample).sandbox).items():
                yield ShortcutGuess(
                    shortcut=rule,
                    kind="floor",
                    view=protocol,
                    sample_id=sample.ref.sample_id,
                    value=value,
                )


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Faults of people's plans, by rule, and names that several restaurants of a city share."""
    for sample in samples:
        task, name = task_in(sample), sample.ref.sample_id
        if task.people_plan is not None:
            for rule, words in judge(task.people_plan, task.sandbox).faults.items():
                yield DataFault(sample_id=name, kind=f"people_{rule}", detail="; ".join(words))
        counts = Counter((plain_words(row.name), row.city) for row in task.sandbox.restaurants)
        for (restaurant, city), count in counts.items():
            if count > 1:
                detail = f"{count} restaurants in {city} are called {restaurant!r}"
                yield DataFault(sample_id=name, kind="same_name", detail=detail)


def remarks(samples: Sequence[Sample]) -> Iterator[str]:
    """How many plans of people pass, and for how many tasks the exact planner finds one."""
    tasks = [task_in(sample) for sample in samples]
    plans = [(task, task.people_plan) for task in tasks if task.people_plan is not None]
    passed = sum(judge(plan, task.sandbox).final_pass for task, plan in plans)
    yield f"Of {len(plans)} people's plans {passed} keep every rule."
    trips = [find_trip(task.sandbox) for task in tasks]
    planned = sum(trip.days is not None for trip in trips)
    refused = sum(trip.days is None and trip.is_proven for trip in trips)
    yield f"The exact planner plans {planned} of {len(tasks)} tasks and proves {refused} infeasible."
