"""The shapes of the report's deeper sections. Every field is described in docs/report.md."""

from typing_extensions import TypedDict  # as in gnomon/report/schema.py

Interval = list[float] | None  # low, high; None where it cannot be known


class TraceStep(TypedDict):
    """One step of a trace, shortened: `kind` is reply, tool or note."""

    kind: str
    title: str
    text: str


class AlignedStep(TypedDict):
    """A step of each trace, or of one of them; `same`: word for word."""

    baseline: TraceStep | None
    variant: TraceStep | None
    same: bool


class Alignment(TypedDict):
    """Two traces side by side; `diverges_at` is the first row that is not the same."""

    steps: list[AlignedStep]
    diverges_at: int | None


class CallQuadrant(TypedDict):
    """Samples of one kind, and what both arms scored on them."""

    n: int
    baseline_mean: float | None
    variant_mean: float | None


class CalledNeeded(TypedDict):
    """Samples by whether the baseline got them wrong (needed) and whether the variant called a tool."""

    model: str
    baseline: str
    variant: str
    needed_called: CallQuadrant
    needed_not_called: CallQuadrant
    not_needed_called: CallQuadrant
    not_needed_not_called: CallQuadrant


class PassPoint(TypedDict):
    """pass^k of one arm."""

    k: int
    n: int
    mean: float | None
    ci95: Interval


class ReliabilityCurve(TypedDict):
    """pass^k of one arm, k from 1."""

    model: str
    arm: str
    points: list[PassPoint]


class PassChange(TypedDict):
    """The difference of pass^k between two arms, at the greatest k."""

    model: str
    baseline: str
    variant: str
    k: int
    n: int
    diff: float
    ci95: Interval
    interval_method: str


class Variance(TypedDict):
    """What a difference's noise is made of, and what twice the money would buy."""

    model: str
    baseline: str
    variant: str
    between_samples: float
    within_samples: float
    share_of_repeats: float | None
    n: int
    repeats: float
    advice: str
    se_now: float
    se_twice_the_samples: float
    se_twice_the_repeats: float


class Reliability(TypedDict):
    """Success again and again; empty where nothing was repeated."""

    curves: list[ReliabilityCurve]
    changes: list[PassChange]
    variance: list[Variance]


class ArmPrice(TypedDict):
    """What a trial of one arm costs on average; None where part of it is unknown."""

    model: str
    arm: str
    usd: float | None
    usd_ci95: Interval
    wall_s: float | None
    wall_s_ci95: Interval


class GainPrice(TypedDict):
    """Extra dollars or seconds a trial, and the gain (a fraction) for each; `note` says why there is none."""

    extra: float | None
    gain_per_unit: float | None
    ci95: Interval
    note: str


class Gain(TypedDict):
    """What the gain of one arm over another costs."""

    model: str
    baseline: str
    variant: str
    per_usd: GainPrice
    per_second: GainPrice


class Frontier(TypedDict):
    """Costs beside gains."""

    arms: list[ArmPrice]
    gains: list[Gain]


class PooledCell(TypedDict):
    """A cell's difference, drawn towards the others; `own_weight` is the share it keeps of its own."""

    scope: str
    diff: float
    ci95: Interval
    own_weight: float


class PooledCells(TypedDict):
    """The cells of a comparison, partially pooled; `tau` is the spread between their true differences."""

    model: str
    baseline: str
    variant: str
    mean: float
    tau: float
    cells: list[PooledCell]


class WaterfallStep(TypedDict):
    """One step of a waterfall, from one arm to the next."""

    baseline: str
    variant: str
    start: float
    end: float
    diff: float
    ci95: Interval


class Waterfall(TypedDict):
    """Steps between arms that build on each other, over the `n` samples that all of them answered."""

    model: str
    n: int
    start: float
    end: float
    steps: list[WaterfallStep]


class Effect(TypedDict):
    """The score of the arm `with_it` less that of the arm `without`."""

    without: str
    with_it: str
    diff: float
    ci95: Interval


class ToolEffect(TypedDict):
    """What one tool is worth to one model; None where no two arms tell it apart."""

    model: str
    leave_one_out: Effect | None
    add_one_in: Effect | None


class PlayerValue(TypedDict):
    """The Shapley value of a tool, or of tools that go together, with the parts of its error."""

    player: str
    tools: list[str]
    value: float
    ci95: Interval
    order_se: float | None
    cluster_se: float | None
    generation_se: float | None


class AttributionReport(TypedDict):
    """Shapley values of one model; `gap` is their sum less `total`, the gain of all tools together."""

    model: str
    total: float
    gap: float
    is_exact: bool
    orders: int
    samples: int
    clusters: int
    values: list[PlayerValue]


class AnalysisPlan(TypedDict):
    """What was declared before any answer was seen; `deviations` say where the job has left it."""

    preset: str | None
    primary: list[list[str]]
    exploratory: list[list[str]]
    isolates: dict[str, str]
    margin: float
    cluster: str
    adjustment: str
    repeats: int
    spec_hash: str
    notes: list[str]
    deviations: list[str]


class Spent(TypedDict):
    """What trials cost; a total is None once one of its parts is unknown, `known_*` adds up the rest."""

    trials: int
    usd: float | None
    known_usd: float
    usd_unknown: int
    prompt_tokens: int | None
    known_prompt_tokens: int
    prompt_tokens_unknown: int
    completion_tokens: int | None
    known_completion_tokens: int
    completion_tokens_unknown: int
    cached_tokens: int | None  # of the prompt's
    known_cached_tokens: int
    cached_tokens_unknown: int
    reasoning_tokens: int | None  # of the completion's
    known_reasoning_tokens: int
    reasoning_tokens_unknown: int
    wall_s: float
    model_calls: int
    cache_hits: int
    tool_calls: int


class ArmSpent(Spent):
    """What one model under one arm cost."""

    model: str
    arm: str


class Cost(Spent):
    """What the job cost."""

    by_arm: list[ArmSpent]


class Figure(TypedDict):
    """A picture of one answer, as SVG without scripts."""

    model: str
    arm: str
    score: float | None
    caption: str
    svg: str


class Exhibit(TypedDict):
    """A sample and the pictures of its answers; benchmarks of graphs draw them."""

    sample_id: str
    figures: list[Figure]
