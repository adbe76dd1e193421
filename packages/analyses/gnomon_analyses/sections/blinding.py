"""Says whether a placebo stayed unnoticed, and how much longer one arm's requests are than another's.

A placebo isolates what tools say only while models treat it as live tools: as many turns, calls and tokens,
and no word that results do not fit.
"""

import math
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from typing_extensions import TypedDict

from gnomon.conditions.results import DOUBTS_RESULTS
from gnomon.core.agent import runs_tools
from gnomon.core.arm import Arm, differences
from gnomon.core.model import Request
from gnomon.core.row import Row
from gnomon.core.row_batch import RowBatch, distinct_codes
from gnomon.core.tool_inputs import provided_inputs
from gnomon.report.cluster_codes import plain_design
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Floats
from gnomon.statistics.paired import ratio_of_means
from gnomon.stopping import while_wanted
from gnomon.tokens import TokenEstimator
from gnomon.trials.condition import schemas_sent
from gnomon_tools.core.toolbox import TOOLS

FEWEST_ALIKE = 29  # clusters: 1 − 0.05^(1/29) is below 10 %
MARGIN = 0.1  # of the live arm's mean; of all trials where it is the share of those that doubt
MEASURES = {
    "turns": "calls of the model",
    "tool_calls": "calls of tools",
    "completion_tokens": "completion tokens",
    "doubts": "trials that say results do not fit",
}
SIZED = 8  # samples whose stored prompts are measured
MOST_ARMS = 64  # whose prompts are measured

Blinding = Literal["held", "failed", "undecided"]


class BlindingMeasure(TypedDict):
    """One measure of both arms over the same samples: means, their difference and ratio with intervals."""

    measure: str
    n: int
    clusters: int
    live: float
    placebo: float
    diff: float
    ci95: Interval
    ratio: float | None
    ratio_ci95: Interval
    verdict: Blinding


class BlindingRow(TypedDict):
    """A placebo arm beside the live arm that differs from it in results alone.

    `fallbacks` counts its trials in which a call was answered by other means than another scene.
    """

    model: str
    live: str
    placebo: str
    verdict: Blinding
    margin: float
    trials: int
    fallbacks: dict[str, int]
    measures: list[BlindingMeasure]


class ArmSize(TypedDict):
    """Estimated tokens of an arm's first request: the prompt, over `samples`, and the tools' schemas."""

    arm: str
    samples: int
    prompt_tokens: float | None
    schema_tokens: int


class SizeDifference(TypedDict):
    """By how many estimated tokens the variant's prompt and schemas are longer than the baseline's."""

    baseline: str
    variant: str
    prompt_tokens: float | None
    schema_tokens: int


class BlindingPart(TypedDict):
    """The section's fields."""

    blinding: list[BlindingRow]
    arm_sizes: list[ArmSize]
    size_differences: list[SizeDifference]


class _Usage(TypedDict):
    trials: int
    turns: float
    tool_calls: float
    completion_tokens: float
    doubts: float


class UsageBySample:
    """Adds up turns, calls and tokens by sample under placebos and the live tools that they stand for."""

    def __init__(self, spec: JobSpec) -> None:
        self._arms = {arm.name for pair in _placebos(spec) for arm in pair}
        self.groups: dict[tuple[str, str], dict[str, _Usage]] = defaultdict(dict)
        self.clusters: dict[str, str] = {}
        self.fallbacks: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.first_trials: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)
        self.last_places: dict[str, int] = defaultdict(int)  # of those that are kept for an arm

    def add(self, batch: RowBatch) -> None:
        self._note_trials(batch)
        of_arms = batch.distinct("arm").places(self._arms.__contains__)
        for row in batch.rows(of_arms):
            self._note_usage(row)

    def _note_usage(self, row: Row) -> None:
        if not row.tools_offered or row.score is None:
            return
        self.clusters[row.sample_id] = row.cluster or row.sample_id
        usage = self.groups[row.model, row.arm].setdefault(
            row.sample_id,
            {"trials": 0, "turns": 0.0, "tool_calls": 0.0, "completion_tokens": 0.0, "doubts": 0.0},
        )
        usage["trials"] += 1
        usage["turns"] += math.nan if row.model_calls is None else row.model_calls
        usage["tool_calls"] += math.nan if row.tool_calls is None else row.tool_calls
        usage["completion_tokens"] += math.nan if row.completion_tokens is None else row.completion_tokens
        usage["doubts"] += DOUBTS_RESULTS in row.flags
        for flag in row.flags:
            if flag.startswith("placebo:"):
                self.fallbacks[row.model, row.arm][flag.removeprefix("placebo:")] += 1

    def _note_trials(self, batch: RowBatch) -> None:
        """Keep a trial of the same few samples under each arm."""
        samples = batch.distinct("sample_id")
        ids = (sample.encode("utf-8", "surrogatepass") for sample in samples.values)
        places = np.fromiter(map(zlib.crc32, ids), np.int64, len(samples.values))
        arms = batch.distinct("arm")
        _, firsts = distinct_codes(arms.codes, samples.codes)
        bounds = np.array(
            [
                self.last_places[arm] if len(self.first_trials[arm]) == SIZED else 1 << 32
                for arm in arms.values
            ]
        )
        is_near = places[samples.codes[firsts]] < bounds[arms.codes[firsts]]
        for row in firsts[is_near].tolist():
            arm, sample, trial = (batch.columns[name][row] for name in ("arm", "sample_id", "trial_id"))
            self._note_trial(arm, sample, int(places[samples.codes[row]]), trial)

    def _note_trial(self, arm: str, sample: str, place: int, trial: str) -> None:
        kept = self.first_trials[arm]
        if sample in kept or (len(kept) == SIZED and place >= self.last_places[arm]):
            return
        if len(kept) == SIZED:
            del kept[max(kept, key=lambda sample: kept[sample][0])]
        kept[sample] = (place, trial)
        self.last_places[arm] = max(place for place, _ in kept.values())


def _blinding(report_input: ReportInput) -> BlindingPart:
    """A row for each model and placebo; sizes of the arms that are compared, where they differ."""
    usage = report_input.collected(UsageBySample)
    arms = report_input.spec.arms
    rows = [
        row
        for model in while_wanted(report_input.models)
        for live, placebo in _placebos(report_input.spec)
        if (row := _row(usage, model, live.name, placebo.name)) is not None
    ]
    sizes = _sizes(report_input, usage) if len(arms) <= MOST_ARMS else {}
    pairs = dict.fromkeys((pair.baseline, pair.variant) for pair in report_input.pairs)
    return {
        "blinding": rows,
        "arm_sizes": list(sizes.values()),
        "size_differences": [
            _size_difference(sizes[first], sizes[second])
            for first, second in pairs
            if first in sizes and second in sizes
        ],
    }


def _placebos(spec: JobSpec) -> list[tuple[Arm, Arm]]:
    """Arms with live tools, each with an arm that differs in what tools return alone."""
    return [
        (live, placebo)
        for placebo in spec.arms
        if placebo.results != "live"
        for live in spec.arms
        if differences(live, placebo) == ["results"] and live.results == "live"
    ]


def _row(usage: UsageBySample, model: str, live: str, placebo: str) -> BlindingRow | None:
    of_live, of_placebo = usage.groups.get((model, live), {}), usage.groups.get((model, placebo), {})
    samples = [sample for sample in of_live if sample in of_placebo]
    if not samples:
        return None
    clusters = [usage.clusters[sample] for sample in samples]
    measured = (
        _measure(name, _means(of_live, samples, name), _means(of_placebo, samples, name), clusters)
        for name in MEASURES
    )
    measures = [measure for measure in measured if measure is not None]
    verdicts = {measure["verdict"] for measure in measures}
    verdict: Blinding = "failed" if "failed" in verdicts else "held" if verdicts == {"held"} else "undecided"
    return {
        "model": model,
        "live": live,
        "placebo": placebo,
        "verdict": verdict,
        "margin": MARGIN,
        "trials": sum(used["trials"] for used in of_placebo.values()),
        "fallbacks": dict(sorted(usage.fallbacks[model, placebo].items())),
        "measures": measures,
    }


def _means(usage: Mapping[str, _Usage], samples: Sequence[str], name: str) -> Floats:
    sums: Mapping[str, Mapping[str, float]] = usage  # type: ignore[assignment]
    return np.array([sums[sample][name] / sums[sample]["trials"] for sample in samples])


def _measure(name: str, live: Floats, placebo: Floats, clusters: Sequence[str]) -> BlindingMeasure | None:
    """None where tokens are not known, or nothing was used under either arm but for doubts."""
    has_both = np.isfinite(live) & np.isfinite(placebo)
    if not has_both.any():
        return None
    live, placebo = live[has_both], placebo[has_both]
    if name == "completion_tokens" and not (live.any() or placebo.any()):
        return None
    grouping = plain_design([clusters[at] for at in np.flatnonzero(has_both).tolist()])
    limits = (-1.0, 1.0) if name == "doubts" else (-math.inf, math.inf)
    estimate = grouping.estimate(placebo - live, limits=limits)
    ends = estimate.interval()
    if name != "doubts" and estimate.is_flat:  # all differ by the same; of so many, hardly a tenth would not
        alike = (estimate.value, estimate.value)
        ends = alike if grouping.clusters_n >= FEWEST_ALIKE else None
    ratio = ratio_of_means(placebo, live, grouping)
    margin = MARGIN if name == "doubts" else MARGIN * float(live.mean())
    return {
        "measure": name,
        "n": len(live),
        "clusters": grouping.clusters_n,
        "live": float(live.mean()),
        "placebo": float(placebo.mean()),
        "diff": estimate.value,
        "ci95": interval(ends),
        "ratio": ratio.value if ratio else None,
        "ratio_ci95": interval(ratio.ci95) if ratio else None,
        "verdict": _verdict(ends, estimate.value, margin=margin),
    }


def _verdict(ends: tuple[float, float] | None, diff: float, *, margin: float) -> Blinding:
    """Failed: more than chance, and by more than the margin. Held: the interval is within the margin."""
    if ends is None:
        return "undecided"
    if not ends[0] <= 0.0 <= ends[1] and abs(diff) > margin:
        return "failed"
    return "held" if -margin <= ends[0] and ends[1] <= margin else "undecided"


def _sizes(report_input: ReportInput, usage: UsageBySample) -> dict[str, ArmSize]:
    """By arm; nothing where no prompt is stored and no arm has tools, or all are of one size."""
    estimator = TokenEstimator()
    compared = {name for pair in report_input.pairs for name in (pair.baseline, pair.variant)}
    sizes: dict[str, ArmSize] = {}
    for arm in report_input.spec.arms:
        if arm.name not in compared:
            continue
        trials = [trial for _, trial in usage.first_trials[arm.name].values()]
        prompts = [trace.get("prompt") for trial in trials if (trace := report_input.trace(trial))]
        tokens = [estimator.prompt(Request(messages=prompt, tools=[])) for prompt in prompts if prompt]
        sizes[arm.name] = {
            "arm": arm.name,
            "samples": len(tokens),
            "prompt_tokens": sum(tokens) / len(tokens) if tokens else None,
            "schema_tokens": _schema_tokens(arm, report_input, estimator),
        }
    distinct = {(size["prompt_tokens"], size["schema_tokens"]) for size in sizes.values()}
    return sizes if len(distinct) > 1 else {}


def _schema_tokens(arm: Arm, report_input: ReportInput, estimator: TokenEstimator) -> int:
    if not runs_tools(arm):
        return 0
    spec = report_input.spec
    served = provided_inputs(report_input.benchmark, arm.tools)  # those of servers among them
    tools = (spec.server_tools.get(name) or TOOLS.find(name) for name in served)
    schemas = schemas_sent(arm, spec, [tool for tool in tools if tool is not None])
    return estimator.prompt(Request(messages=[], tools=schemas))


def _size_difference(baseline: ArmSize, variant: ArmSize) -> SizeDifference:
    first, second = baseline["prompt_tokens"], variant["prompt_tokens"]
    return {
        "baseline": baseline["arm"],
        "variant": variant["arm"],
        "prompt_tokens": None if first is None or second is None else second - first,
        "schema_tokens": variant["schema_tokens"] - baseline["schema_tokens"],
    }


WORDS: Mapping[Blinding, str] = {
    "held": "stayed unnoticed: no measure differs by more than the margin",
    "failed": "was noticed: what stands beside it is not the effect of results alone",
    "undecided": "may have been noticed: the data cannot tell",
}


def _view(report: BlindingPart) -> Mapping[str, object] | None:
    if not report.get("blinding", []) and not report.get("arm_sizes", []):
        return None
    return {"measures": MEASURES, "words": WORDS}


def _sentence(row: BlindingRow) -> str:
    return f"{row['model']}: “{row['placebo']}” beside “{row['live']}” {WORDS[row['verdict']]}."


def _terminal(report: BlindingPart) -> Iterator[str]:
    rows = report.get("blinding", [])  # absent from reports of older versions
    if rows:
        yield ""
    yield from map(_sentence, rows)


blinding = Section(
    name="blinding",
    title="Placebo, and length of requests",
    question="Did models treat a placebo as live tools, and how much longer are an arm’s requests?",
    fields=BlindingPart,
    compute=_blinding,
    place=111,
    behind="waterfalls",
    collector=lambda spec, _: UsageBySample(spec),
    view=_view,
    terminal=_terminal,
)
