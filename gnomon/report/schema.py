"""The report's shape, as it goes out as JSON. Every field is described in docs/report.md."""

from typing import Literal

from typing_extensions import TypedDict  # the one that pydantic, and so FastAPI, can describe on Python 3.11

from gnomon.report.extra_metrics import MetricRow
from gnomon.report.heuristics import HeuristicRow
from gnomon.report.missing import MissingRow, ModelCheckRow
from gnomon.report.shapes import (
    Alignment,
    AnalysisPlan,
    AttributionReport,
    CalledNeeded,
    Cost,
    Exhibit,
    Frontier,
    Interval,
    PooledCells,
    Reliability,
    ToolEffect,
    Waterfall,
)

Verdict = Literal["helps", "hurts", "no_effect", "undecided"]


class JobInfo(TypedDict):
    """What was run."""

    id: str
    jobs: list[str]  # ids of the two jobs whose difference this is; else empty
    name: str
    status: str
    error: str  # why it failed; empty otherwise
    benchmark: str
    benchmark_version: str
    headline: str
    models: list[str]
    arms: list[str]
    arm_texts: dict[str, str]
    repeats: int
    primary: list[list[str]]
    margin: float
    cluster: str


class TrialCounts(TypedDict):
    """How trials ended; `pending` have not ended yet or will never run."""

    planned: int
    finished: int
    scored: int
    model_failed: int
    infra_missing: int
    pending: int


class Denominators(TypedDict):
    """What every figure is counted out of."""

    trials: TrialCounts
    samples: int
    clusters: int
    cells: int
    repeats: int


class CellMean(TypedDict):
    """An arm's mean in one cell."""

    n: int
    mean: float | None
    ci95: Interval


class ArmReport(TypedDict):
    """One model under one arm."""

    model: str
    arm: str
    n: int
    planned: int
    clusters: int
    mean: float | None
    ci95: Interval
    by_task: dict[str, CellMean]
    aggregate: float | None
    aggregate_ci95: Interval
    interval_method: str
    trials: TrialCounts
    stop_reasons: dict[str, int]
    model_calls: int
    cache_hits: int
    tools_offered: list[int] | None  # the least and the most that a trial was offered


class ContrastReport(TypedDict):
    """One paired comparison."""

    model: str
    baseline: str
    variant: str
    isolates: str
    also_differs: list[str]
    scope: str
    family: Literal["primary", "exploratory"]
    n: int
    clusters: int
    baseline_mean: float | None
    variant_mean: float | None
    diff: float | None
    ci95: Interval
    ci90: Interval
    se: float | None
    interval_method: str
    p: float | None
    p_adjusted: float | None
    check_p: float | None
    test: str
    rescued: int
    broken: int
    both_right: int
    both_wrong: int
    mde: float | None
    bounds: Interval
    verdict: Verdict
    withheld: bool
    reasons: list[str]
    verdict_text: str


class FlippedSample(TypedDict):
    """A sample that one arm got right and the other wrong."""

    sample_id: str
    cell: str
    kind: Literal["rescued", "broken"]
    baseline_score: float
    variant_score: float
    baseline_answer: str | None
    variant_answer: str | None
    baseline_trial: str | None
    variant_trial: str | None
    aligned: Alignment | None


class Flips(TypedDict):
    """The flipped samples of one comparison; `total` counts those not listed too."""

    model: str
    baseline: str
    variant: str
    total: int
    traced: int
    samples: list[FlippedSample]


class ToolUse(TypedDict):
    """How often a tool was called, and how often badly; the rates are shares of calls, None without calls."""

    calls: int
    samples_used: int
    samples: int
    bad_arguments: int
    errors: int
    bad_argument_rate: float | None
    error_rate: float | None


class ToolArm(ToolUse):
    """How one model under one arm used a tool."""

    model: str
    arm: str


class ToolReport(ToolUse):
    """How a tool was used by all, and what it alone is worth (None: no arms that would tell)."""

    tool: str
    offered: bool
    leave_one_out: float | None
    add_one_in: float | None
    shapley: float | None
    effects: list[ToolEffect]
    by_arm: list[ToolArm]


class PublishedRow(TypedDict):
    """A row of the benchmark's own table, in fractions."""

    model: str
    group: str
    aggregate: float | None
    by_task: dict[str, float | None]


class Bounds(TypedDict):
    """Where the difference would lie if all missing trials favoured the baseline, or the variant."""

    model: str
    baseline: str
    variant: str
    low: float
    high: float
    missing_baseline: float
    missing_variant: float


class ArmDifference(TypedDict):
    """Everything in which two arms differ; `besides_tools` are differences that may be the real cause."""

    baseline: str
    variant: str
    fields: list[str]
    besides_tools: list[str]


class AdapterChange(TypedDict):
    """In how many trials a provider's adapter sent something else than was asked for."""

    model: str
    arm: str
    change: str
    trials: int
    all_trials: int


class Seeds(TypedDict):
    """Where chance came from."""

    select: int | str  # of two jobs that differ in it: both
    trials: str
    sign_flips: int


class Integrity(TypedDict):
    """What could be wrong."""

    missing_by_cause: dict[str, int]
    missing: list[MissingRow]  # the same by model, with what was said
    failed_by_cause: dict[str, int]
    flags: dict[str, int]
    bounds: list[Bounds]
    arm_differences: list[ArmDifference]
    adapter_changes: list[AdapterChange]
    cache_hits: int
    seeds: Seeds
    spec_hash: str
    comparisons: int
    data_faults: dict[str, int]
    protocol: str
    decoding: dict[str, dict[str, float | int]]  # as the protocol sets it, by task or `all`
    scoring: str
    variant: str | None
    benchmark_version: str
    gnomon_version: str


class Report(TypedDict):
    """The whole report."""

    job: JobInfo
    protocol: str
    scoring: str
    denominators: Denominators
    alerts: list[str]  # what must be known before any figure
    answers: list[str]  # one sentence a model
    summary: list[str]
    arms: list[ArmReport]
    contrasts: list[ContrastReport]
    flips: list[Flips]
    exhibits: list[Exhibit]
    tools: list[ToolReport]
    floors: list[HeuristicRow]
    measures: list[MetricRow]
    published: list[PublishedRow]
    published_notes: list[str]
    plan: AnalysisPlan
    waterfalls: list[Waterfall]
    attributions: list[AttributionReport]
    called_needed: list[CalledNeeded]
    reliability: Reliability
    frontier: Frontier
    pooled: list[PooledCells]
    preflights: list[ModelCheckRow]
    cost: Cost
    integrity: Integrity
