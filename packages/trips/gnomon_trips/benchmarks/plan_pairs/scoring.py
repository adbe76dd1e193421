"""Reads a verdict on two plans, and says whether people, or else the measures of quality, agree with it.

No plan is the right one. A score is agreement with what the data hold, and the metric `agrees_with` says with
what; where they hold nothing there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gnomon.core.score import Score
from gnomon.reading.choices import read_choice
from gnomon_trips.benchmarks.plan_pairs.loader import EQUAL, OPTIONS, NamedPlan, PlanPair

MARGIN = 0.02
"""By how much a measure must be higher to speak for a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The plan that the data favour, by planner or EQUAL, and the source of that; `words` says why."""

    winner: str
    by: Literal["people", "measures"]
    words: str


def expected_of(pair: PlanPair) -> Expected | None:
    """The majority of people's votes; without votes the plan that is ahead in more measures; else None."""
    first, second = pair.plans
    if sum(pair.votes.values()):
        most = max(pair.votes.values())
        leading = [name for name, count in pair.votes.items() if count == most]
        winner = leading[0] if len(leading) == 1 else EQUAL
        counts = ", ".join(f"{name} {count}" for name, count in pair.votes.items())
        return Expected(winner=winner, by="people", words=f"people's votes: {counts}")
    ahead = (measures_ahead(first, second), measures_ahead(second, first))
    compared = len(shared_measures(first, second))
    if not compared:
        return None
    winner = EQUAL if ahead[0] == ahead[1] else (first.by if ahead[0] > ahead[1] else second.by)
    words = f"of {compared} measures {first.by} is ahead in {ahead[0]}, {second.by} in {ahead[1]}"
    return Expected(winner=winner, by="measures", words=words)


def shared_measures(first: NamedPlan, second: NamedPlan) -> dict[str, tuple[float, float]]:
    """The measures that have a value of both plans."""
    values = [
        {str(measure["name"]): measure["value"] for measure in plan.result.quality}
        for plan in (first, second)
    ]
    return {
        name: (value, values[1][name])
        for name, value in values[0].items()
        if value is not None and values[1].get(name) is not None
    }


def measures_ahead(plan: NamedPlan, other: NamedPlan) -> int:
    """In how many measures a plan is ahead of another by more than MARGIN."""
    return sum(own > others + MARGIN for own, others in shared_measures(plan, other).values())


def score_verdict(pair: PlanPair, response: str, *, is_swapped: bool) -> Score:
    """1 where people's majority, or without votes most measures, say the same; 0 where they do not.

    Scored None, with the verdict in its metrics, where the data hold neither.
    """
    reading = read_choice(response, OPTIONS)
    letter = reading.value
    expected = expected_of(pair)
    if letter is None:
        return reading.nothing(**_metrics(pair, expected, None, is_swapped=is_swapped))
    winner = pair.winner(letter, is_swapped=is_swapped)
    metrics = _metrics(pair, expected, winner, is_swapped=is_swapped)
    if expected is None:
        reason = "no_people_no_measures"
        return Score(value=None, reason=reason, answer=letter, metrics=metrics, read_by=reading.read_by)
    is_same = float(winner == expected.winner)
    return Score(value=is_same, answer=letter, metrics=metrics, read_by=reading.read_by)


def _metrics(
    pair: PlanPair, expected: Expected | None, winner: str | None, *, is_swapped: bool
) -> Mapping[str, float | str | None]:
    """What the report's section on pairs reads: the pair, who was A and B, and who won."""
    first, second = (plan.by for plan in pair.shown(is_swapped=is_swapped))
    return {
        "pair": pair.pair_id,
        "plan_a": first,
        "plan_b": second,
        "winner": winner,
        "agrees_with": expected.by if expected else None,
    }
