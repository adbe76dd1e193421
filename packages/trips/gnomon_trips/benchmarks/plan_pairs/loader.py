"""Reads plans with their requests, pairs those of one request, and reads what people said of the pairs."""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_hash
from gnomon.core.sample import DataFault
from gnomon.reading.choices import read_choice
from gnomon_tools.core.regular_file import read_regular
from gnomon_trips.export.result import TripResult, result_of
from gnomon_trips.itinerary.errors import BadArgument
from gnomon_trips.itinerary.request import TripRequest, read_request

VOTES = "votes.jsonl"
LISTED, SWAPPED = ORDERS = ("listed", "swapped")
OPTIONS = {"A": "plan A", "B": "plan B", "C": "about equal"}
EQUAL = OPTIONS["C"]
"""The verdict on two plans of which neither is the better one; no planner may have that name."""
HOW, WHO = frozenset(("id", "prefer")), "by"
"""Fields of a request that say nothing of what the traveller wants from the trip; who made a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPlan:
    """A plan without faults, with its request and the name of its planner."""

    by: str
    result: TripResult
    request: TripRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPair:
    """Two plans of one request; `votes` says how many people were for which, by planner or EQUAL."""

    pair_id: str
    group: str
    plans: tuple[NamedPlan, NamedPlan]
    votes: Mapping[str, int] = field(default_factory=dict)

    def shown(self, *, is_swapped: bool) -> tuple[NamedPlan, NamedPlan]:
        first, second = self.plans
        return (second, first) if is_swapped else (first, second)

    def winner(self, letter: str, *, is_swapped: bool) -> str:
        """The planner that a letter is for, or EQUAL."""
        return EQUAL if letter == "C" else self.shown(is_swapped=is_swapped)["AB".index(letter)].by


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """All pairs of a folder, and what of it was left out."""

    pairs: tuple[PlanPair, ...]
    faults: tuple[DataFault, ...]


def read_pairs(folder: Path) -> Pairs:
    """Every pair of different plans of one request.

    Plans are lines of any `*.jsonl`, or whole `*.json` files as `--out trip.json` writes them, named by the
    field `by`, else by the file. What is refused or fails a check is left out and counted: no one is asked
    which of two impossible plans is the better. `votes.jsonl` holds people's answers to an earlier job over
    the same plans, as the review desk gives them out.

    Raises:
        DataError: the folder holds no plan, or a file cannot be read.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder of plans", field="data")
    groups: dict[str, list[NamedPlan]] = defaultdict(list)
    faults: list[DataFault] = []
    count = 0
    for where, name, record in _records(folder):
        count += 1
        plan = _plan(record, name)
        if isinstance(plan, str):
            faults.append(DataFault(sample_id=where, kind="plan_left_out", detail=plan))
            continue
        groups[_group(plan.request)].append(plan)
    if not count:
        raise DataError(
            f"{folder} holds no plan (*.json or *.jsonl, as --out trip.json writes)", field="data"
        )
    votes = _votes(folder / VOTES)
    pairs: list[PlanPair] = []
    for group, plans in sorted(groups.items()):
        named = _told_apart(plans)
        if len(named) < 2:
            faults.append(DataFault(sample_id=group, kind="plan_alone", detail=f"by {named[0].by}"))
        for first, second in itertools.combinations(named, 2):
            if first.result.plan.days == second.result.plan.days:
                alike = f"{first.by} and {second.by} are the same plan"
                faults.append(DataFault(sample_id=group, kind="plans_alike", detail=alike))
                continue
            pair_id = stable_hash(group, first.by, second.by, size=12)
            pair = PlanPair(pair_id=pair_id, group=group, plans=(first, second))
            pairs.append(replace(pair, votes=_counted(pair, votes.get(pair_id, {}))))
    return Pairs(pairs=tuple(pairs), faults=tuple(faults))


def _records(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Where each plan is, the name of its file, and its plain data.

    Raises:
        DataError: a file is not JSON.
    """
    for file in sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")]):
        if file.name == VOTES:
            continue
        for number, record in _lines(file):
            yield (f"{file.name}:{number}" if number else file.name), file.stem, record


def _lines(file: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = read_regular(file).decode()
        if file.suffix == ".json":
            yield 0, json.loads(text)
            return
        for number, line in enumerate(text.split("\n"), 1):  # not at a U+2028, which JSON lets stand in texts
            if line.strip():
                yield number, json.loads(line)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file} cannot be read: {error}", field="data") from None


def _plan(record: Any, name: str) -> NamedPlan | str:
    """The plan in plain data; else why it is left out."""
    try:
        verification = record.get("verification") or {}
        violations = verification.get("violations", record.get("violations", ()))
        unchecked = verification.get("unchecked", record.get("unchecked", ()))
        result = result_of(json.dumps({**record, "violations": violations, "unchecked": unchecked}))
        request = read_request(result.request)
    except (AttributeError, TypeError, DataError):
        return "it is no plan as --out trip.json writes it"
    except BadArgument as error:
        return f"its request cannot be read: {error}"
    by = str(record.get(WHO) or name)[:100]
    if by == EQUAL:
        return f"no planner may be called {EQUAL!r}"
    if result.plan.status == "refused":
        return f"{by} refused"
    if result.errors:
        return f"the plan of {by} fails {', '.join(sorted({error['code'] for error in result.errors}))}"
    return NamedPlan(by=by, result=result, request=request)


def _group(request: TripRequest) -> str:
    """The key that plans of the same wishes share, however they were searched for."""
    return stable_hash(request.model_dump(mode="json", exclude=set(HOW)), size=12)


def _told_apart(plans: Sequence[NamedPlan]) -> list[NamedPlan]:
    """Plans by the name of their planner; a second one of a planner gets a number."""
    counts: dict[str, int] = defaultdict(int)
    taken = {plan.by for plan in plans}
    named = []
    for plan in sorted(plans, key=lambda plan: (plan.by, plan.result.plan.model_dump_json())):
        counts[plan.by] += 1
        by = plan.by
        if counts[by] > 1:
            numbered = (f"{plan.by} {number}" for number in itertools.count(counts[by]))
            by = next(name for name in numbered if name not in taken)
            taken.add(by)
        named.append(NamedPlan(by=by, result=plan.result, request=plan.request))
    return named


def _votes(file: Path) -> dict[str, dict[str, dict[str, str]]]:
    """By pair and person, the letter that was chosen in each order, as the review desk's answers hold them.

    Raises:
        DataError: a line is no such answer.
    """
    votes: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for number, record in _lines(file) if file.is_file() else ():
        fields = record if isinstance(record, dict) else {}
        sample_id, answer = fields.get("sample_id"), fields.get("answer")
        pair_id, _, order = str(sample_id).rpartition("-")
        if not isinstance(sample_id, str) or order not in ORDERS or not isinstance(answer, str | None):
            form = '{"sample_id": "PAIR-listed", "answer": "A", "model": PERSON}'
            raise DataError(f"{file}, line {number}: must be {form}", field="data")
        letter = read_choice(answer or "", OPTIONS).value
        if letter is not None:
            votes[pair_id][str(fields.get("model", ""))][order] = letter
    return votes


def _counted(pair: PlanPair, by_person: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """How many people are for which plan; who names another plan in the other order is for neither."""
    counts: dict[str, int] = {}
    for letters in by_person.values():
        winners = {pair.winner(letter, is_swapped=order == SWAPPED) for order, letter in letters.items()}
        winner = winners.pop() if len(winners) == 1 else EQUAL
        counts[winner] = counts.get(winner, 0) + 1
    return counts
