"""Plan pairs as a benchmark plug-in: a sample is a pair of plans in one order, the answer which is better."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring, reject_variant
from gnomon.core.chosen_samples import ChosenSamples
from gnomon.core.errors import DataError, SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import NO_ANSWER, Option, QuestionView
from gnomon.core.sample import Sample, SampleRef
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.reading.choices import read_choice
from gnomon_tools.core.inputs import Need
from gnomon_trips.benchmarks.plan_pairs.loader import (
    EQUAL,
    OPTIONS,
    ORDERS,
    SWAPPED,
    PlanPair,
    read_pairs,
)
from gnomon_trips.benchmarks.plan_pairs.prompt import (
    QUESTION,
    parts_of,
    plan_words,
    request_facts,
)
from gnomon_trips.benchmarks.plan_pairs.scoring import expected_of, score_verdict


class PlanPairs(PlainBenchmark):
    """Two tasks, the same pairs in both orders; a cell is an order, the cluster the request."""

    name = "plan-pairs"
    version = "1"
    tasks: tuple[str, ...] = ORDERS
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"
    provides: tuple[Need, ...] = ()

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,  # noqa: ARG002 (there is one prompt)
        media: MediaStore,  # noqa: ARG002 (judges read text)
    ) -> SampleSet:
        """A limit keeps both orders of each pair that it asks."""
        if data is None:
            raise DataError("plan-pairs needs a folder of plans", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        read = read_pairs(data)
        orders = select.tasks or self.tasks
        chosen = sorted(read.pairs, key=lambda pair: stable_hash(select.seed, pair.pair_id))
        if select.limit is not None:
            chosen = chosen[: max(1, select.limit // len(orders))]
        refs = [(_ref(pair, order), pair) for pair in chosen for order in orders]
        return ChosenSamples(
            rows={ref.sample_id: (ref, pair) for ref, pair in refs},
            faults=read.faults,
            build=_sample,
        )

    def score(
        self,
        sample: Sample,
        response: str,
        *,
        scoring: Scoring,  # noqa: ARG002 (there is one rule)
        variant: str | None = None,
    ) -> Score:
        reject_variant(self.name, variant)
        return score_verdict(sample.target["pair"], response, is_swapped=_is_swapped(sample))

    def score_record(
        self,
        record: Mapping[str, Any],
        *,
        scoring: Scoring,  # noqa: ARG002 (there is one rule)
        variant: str | None = None,
    ) -> Score:
        """A record holds a response and the letter that people, or whoever, prefer."""
        reject_variant(self.name, variant)
        for field in ("preferred", "response"):
            if not isinstance(record.get(field), str):
                raise SpecError("is missing or no text", field=field)
        if record["preferred"] not in OPTIONS:
            raise SpecError(f"must be one of {', '.join(OPTIONS)}", field="preferred")
        reading = read_choice(record["response"], OPTIONS)
        if reading.value is None:
            return reading.nothing()
        is_same = float(reading.value == record["preferred"])
        return Score(value=is_same, answer=reading.value, read_by=reading.read_by)

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        """Scores of rules that look at one thing; a judge that weighs more should beat them."""
        pair: PlanPair = sample.target["pair"]
        expected = expected_of(pair)
        if expected is None:
            return {}
        plans = [plan.result.plan for plan in pair.plans]
        stops = [sum(len(day.visits) for day in plan.days) for plan in plans]
        texts = [len(plan_words(plan)) for plan in pair.plans]
        rules = {
            "always A": pair.shown(is_swapped=_is_swapped(sample))[0].by,
            "always about equal": EQUAL,
            "fewer metres": _least(pair, [plan.totals.metres for plan in plans]),
            "more stops": _least(pair, [-count for count in stops]),
            "longer text": _least(pair, [-length for length in texts]),
        }
        return {rule: float(winner == expected.winner) for rule, winner in rules.items()}

    def question_view(self, sample: Sample) -> QuestionView:
        """Both plans as they are read, without who made them: people judge what models judge."""
        pair: PlanPair = sample.target["pair"]
        plans = pair.shown(is_swapped=_is_swapped(sample))
        expected = expected_of(pair)
        preferred = f" By {expected.by}: {_by_letter(pair, expected.winner, sample)}." if expected else ""
        return QuestionView(
            question=f"{QUESTION}\n\nPlan A\n{plan_words(plans[0])}\n\nPlan B\n{plan_words(plans[1])}",
            options=tuple(Option(letter=letter, text=text) for letter, text in OPTIONS.items()),
            truth_text=f"No plan is the right one.{preferred}",
            facts=dict(request_facts(plans[0].request)),
        )

    def verdict_in_words(
        self,
        sample: Sample,
        answer: str,
        metrics: Mapping[str, float | str | None],  # noqa: ARG002 (the answer says it all)
    ) -> str:
        pair: PlanPair = sample.target["pair"]
        letter = read_choice(answer, OPTIONS).value
        if letter is None:
            return NO_ANSWER
        winner, expected = pair.winner(letter, is_swapped=_is_swapped(sample)), expected_of(pair)
        verdict = "Both about equal." if winner == EQUAL else f"For {winner}, shown as plan {letter}."
        return f"{verdict} {expected.words.capitalize()}." if expected else verdict


def _least(pair: PlanPair, values: Sequence[float]) -> str:
    """The planner with the lower value, or EQUAL."""
    first, second = pair.plans
    return EQUAL if values[0] == values[1] else (first.by if values[0] < values[1] else second.by)


def _by_letter(pair: PlanPair, winner: str, sample: Sample) -> str:
    shown = {
        plan.by: letter for plan, letter in zip(pair.shown(is_swapped=_is_swapped(sample)), "AB", strict=True)
    }
    return f"plan {shown[winner]}" if winner in shown else EQUAL


def _is_swapped(sample: Sample) -> bool:
    return sample.ref.task == SWAPPED


def _ref(pair: PlanPair, order: str) -> SampleRef:
    return SampleRef(sample_id=f"{pair.pair_id}-{order}", task=order, cell=order, cluster=pair.group)


def _sample(ref: SampleRef, pair: PlanPair) -> Sample:
    return Sample(ref=ref, parts=parts_of(pair, is_swapped=ref.task == SWAPPED), target={"pair": pair})


plan_pairs: Benchmark = PlanPairs()
