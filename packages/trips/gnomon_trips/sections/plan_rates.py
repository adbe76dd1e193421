"""Rates of plans: delivery, common sense, demands, final pass and refusals, by model and arm."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.benchmark import BENCHMARKS, JudgesPlans
from gnomon.core.plan_row import ERROR_KINDS, RATES, ErrorKind, PlanRow, Rate
from gnomon.core.row import Row
from gnomon.core.row_batch import RowBatch
from gnomon.report.cluster_codes import plain_design
from gnomon.report.pairs import ArmPair
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.text_formats import percent
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Design, Floats
from gnomon.statistics.mean import linearized, ratio_score
from gnomon.statistics.paired import compare
from gnomon.stopping import while_wanted

TITLES: Mapping[Rate, str] = {
    "delivery": "delivery",
    "commonsense_micro": "common sense, micro",
    "commonsense_macro": "common sense, macro",
    "hard_micro": "demands, micro",
    "hard_macro": "demands, macro",
    "final_pass": "final pass",
    "refusal_precision": "refusals, precision",
    "refusal_recall": "refusals, recall",
    "refusal_proven": "refusals, proven",
}


class PlanRate(TypedDict):
    """One rate under one arm: `passed` of `of`, summed over trials of `n` samples in `clusters`."""

    rate: Rate
    model: str
    arm: str
    passed: float
    of: float
    value: float
    ci95: Interval
    interval_method: str
    n: int
    clusters: int


class PlanRateDifference(TypedDict):
    """Variant minus baseline over the `n` samples to which the rate applies under both arms."""

    rate: Rate
    model: str
    baseline: str
    variant: str
    diff: float
    ci95: Interval
    n: int
    clusters: int


class PlanRatesPart(TypedDict):
    """All rates and their differences; empty where the benchmark judges no plans."""

    plan_rates: list[PlanRate]
    plan_rate_differences: list[PlanRateDifference]


Group = tuple[str, str]  # model, arm


class PlanRows:
    """Adds up by sample what a benchmark says of its rows: rates, and trials with an error of each kind."""

    def __init__(self, benchmark: JudgesPlans | None) -> None:
        self._benchmark = benchmark
        self.clusters: dict[str, str] = {}  # of samples
        self.trials: dict[Group, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.flags: dict[tuple[Group, ErrorKind], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._faulty: dict[tuple[Group, ErrorKind], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._passed: dict[tuple[Group, Rate], dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self._of: dict[tuple[Group, Rate], dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self._unknown: dict[tuple[Group, Rate], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._most: dict[tuple[Rate, str], float] = {}  # what a trial of a sample is counted out of

    def add(self, batch: RowBatch) -> None:
        """Add the rows that were scored."""
        if self._benchmark is not None:
            for row in batch.rows(np.flatnonzero(np.isfinite(batch.numbers("score")))):
                self._note(row, self._benchmark)

    def _note(self, row: Row, benchmark: JudgesPlans) -> None:
        self.clusters[row.sample_id] = row.cluster or row.sample_id
        group = row.model, row.arm
        self.trials[group][row.sample_id] += 1
        self._add(group, row.sample_id, benchmark.plan_row(row))

    def _add(self, group: Group, sample: str, plan: PlanRow) -> None:
        for rate, (passed, of) in plan.rates.items():
            self._passed[group, rate][sample] += passed
            if of is None:
                self._unknown[group, rate][sample] += 1
                continue
            self._of[group, rate][sample] += of
            self._most[rate, sample] = max(of, self._most.get((rate, sample), 0.0))
        for kind, flags in plan.errors.items():
            self._faulty[group, kind][sample] += 1
            for flag in flags:
                self.flags[group, kind][flag] += 1

    def counted(self, group: Group, rate: Rate) -> dict[str, tuple[float, float]]:
        """By sample how much passes of how much; samples to which the rate does not apply are left out."""
        unknown, of = self._unknown[group, rate], self._of[group, rate]
        counts = {
            sample: (passed, of[sample] + unknown[sample] * self._most.get((rate, sample), 0.0))
            for sample, passed in sorted(self._passed[group, rate].items())
        }
        return {sample: pair for sample, pair in counts.items() if pair[1] > 0.0}

    def faulty(self, group: Group, kind: ErrorKind) -> dict[str, tuple[float, float]]:
        """By sample how many of its scored trials have an error of the kind."""
        faulty = self._faulty[group, kind]
        return {
            sample: (float(faulty.get(sample, 0)), float(n))
            for sample, n in sorted(self.trials[group].items())
        }

    @property
    def kinds(self) -> list[ErrorKind]:
        """The kinds of which any row has an error, in their usual order."""
        return [kind for kind in ERROR_KINDS if any(key[1] == kind for key in self._faulty)]


def _collector(_: JobSpec, benchmark: str) -> PlanRows:
    plugin = BENCHMARKS.find(benchmark)
    return PlanRows(plugin if isinstance(plugin, JudgesPlans) else None)


def design_of(rows: PlanRows, report_input: ReportInput, samples: Sequence[str]) -> Design:
    """One stratum of these samples, in the clusters of their rows unless the job takes none."""
    is_clustered = report_input.spec.analysis.cluster == "auto"
    return plain_design([rows.clusters[sample] if is_clustered else sample for sample in samples])


def columns(counts: Mapping[str, tuple[float, float]], samples: Sequence[str]) -> tuple[Floats, Floats]:
    """What passes and what it is counted out of, by sample."""
    passed, of = np.array([counts[sample] for sample in samples], dtype=np.float64).T
    return passed, of


def _plan_rates(report_input: ReportInput) -> PlanRatesPart:
    rows = report_input.collected(PlanRows)
    if not rows.trials:
        return {"plan_rates": [], "plan_rate_differences": []}
    rates: list[PlanRate] = []
    for model, arm in while_wanted(report_input.scores.groups):
        for rate in RATES:
            counts = rows.counted((model, arm), rate)
            if counts:
                rates.append(_rate(rate, model, arm, counts, rows, report_input))
    differences = [
        difference
        for pair in while_wanted(report_input.pairs)
        for rate in RATES
        if (difference := _difference(rate, pair, rows, report_input)) is not None
    ]
    return {"plan_rates": rates, "plan_rate_differences": differences}


def _rate(
    rate: Rate,
    model: str,
    arm: str,
    counts: Mapping[str, tuple[float, float]],
    rows: PlanRows,
    report_input: ReportInput,
) -> PlanRate:
    samples = list(counts)
    passed, of = columns(counts, samples)
    share = ratio_score(passed, of, design_of(rows, report_input, samples))
    return {
        "rate": rate,
        "model": model,
        "arm": arm,
        "passed": float(passed.sum()),
        "of": float(of.sum()),
        "value": share.mean,
        "ci95": interval(share.ci95),
        "interval_method": share.method,
        "n": share.n,
        "clusters": share.clusters,
    }


def _difference(
    rate: Rate, pair: ArmPair, rows: PlanRows, report_input: ReportInput
) -> PlanRateDifference | None:
    baseline = rows.counted((pair.model, pair.baseline), rate)
    variant = rows.counted((pair.model, pair.variant), rate)
    samples = [sample for sample in baseline if sample in variant]
    if not samples:
        return None
    grouping = design_of(rows, report_input, samples)
    diff, ends = share_difference(columns(baseline, samples), columns(variant, samples), grouping)
    return {
        "rate": rate,
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "diff": diff,
        "ci95": interval(ends),
        "n": grouping.n,
        "clusters": grouping.clusters_n,
    }


def share_difference(
    baseline: tuple[Floats, Floats], variant: tuple[Floats, Floats], grouping: Design
) -> tuple[float, tuple[float, float] | None]:
    """The variant's share minus the baseline's and its 95 % interval.

    By the rule of paired scores where all samples count alike, else by Student's t of the linearized ratios.
    """
    if np.ptp(baseline[1]) == 0.0 and np.ptp(variant[1]) == 0.0:
        comparison = compare(baseline[0] / baseline[1], variant[0] / variant[1], grouping)
        return comparison.diff, comparison.ci95
    changes = linearized(*variant) - linearized(*baseline)
    estimate = grouping.estimate(changes, limits=(-1.0, 1.0))
    return estimate.value, estimate.interval()


def counted_of(passed: float, of: float) -> str:
    """How much of how much; graded shares with one decimal.

    >>> counted_of(12.0, 1300.0), counted_of(11.5, 12.0)
    ('12 of 1,300', '11.5 of 12')
    """
    return f"{_amount(passed)} of {_amount(of)}"


def _amount(value: float) -> str:
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def _view(report: PlanRatesPart) -> Mapping[str, object] | None:
    rates = report.get("plan_rates", [])  # absent from reports of older versions
    if not rates:
        return None
    groups = list(dict.fromkeys((row["model"], row["arm"]) for row in rates))
    by_key = {(row["rate"], row["model"], row["arm"]): row for row in rates}
    table = [
        (title, RATES[rate], [by_key.get((rate, *group)) for group in groups])
        for rate, title in TITLES.items()
        if any((rate, *group) in by_key for group in groups)
    ]
    return {"groups": groups, "table": table, "titles": TITLES, "counted_of": counted_of}


def _terminal(report: PlanRatesPart) -> Iterator[str]:
    rates = report.get("plan_rates", [])
    groups = dict.fromkeys((row["model"], row["arm"]) for row in rates)
    if rates:
        yield ""
    for model, arm in groups:
        of_group = {row["rate"]: row for row in rates if (row["model"], row["arm"]) == (model, arm)}
        shown = (
            f"{TITLES[rate]} {percent(row['value'])} % ({counted_of(row['passed'], row['of'])})"
            for rate in RATES
            if (row := of_group.get(rate)) is not None
        )
        yield f"{model} / {arm}: {', '.join(shown)}"


plan_rates = Section(
    name="plan_rates",
    title="Rates of plans",
    question="How many plans are delivered, keep common sense and demands, and pass; are refusals right?",
    fields=PlanRatesPart,
    compute=_plan_rates,
    collector=_collector,
    place=32,
    behind="arms",
    view=_view,
    terminal=_terminal,
)
