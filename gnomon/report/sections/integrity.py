"""Counts and names what could be wrong."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NotRequired

from typing_extensions import TypedDict

from gnomon.core.arm import differences
from gnomon.core.decoding import EVERY_TASK
from gnomon.core.missing import said_most
from gnomon.core.model import is_built_in
from gnomon.core.row import ADAPTER
from gnomon.core.score import Outcome
from gnomon.exchange.imported_job import UNKNOWN, asked_and_scored, is_imported
from gnomon.report.compared_pair import missing_share
from gnomon.report.contrast import ContrastReport, looked_at
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import ReportInput, Section, by_count
from gnomon.report.sections.contrasts import contrasts
from gnomon.report.sections.cost import CostPart
from gnomon.report.sections.job import JobPart
from gnomon.report.sections.plan import PlanPart
from gnomon.report.sections.preflights import PreflightsPart
from gnomon.report.text_formats import counted_causes, settings_text
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.statistics.permutation import SEED

# What an adapter can change in a request, in words a reader understands.
ADAPTER_WORDS = {
    "tool_choice": "whether the model must call a tool",
    "temperature": "the temperature",
    "top_p": "top-p sampling",
    "seed": "the seed",
    "max_tokens": "the limit of a reply's length",
    "tools": "which tools are offered",
    "schemas": "bounds in the tools' schemas",
    "messages": "the number of messages",
    "content": "the words of a message",
    "reasoning": "the model's earlier reasoning",
    "request": "something that could not be compared",
}


class MissingRow(TypedDict):
    """Trials of a model that are missing for one reason, and the error that was reported most often."""

    model: str
    cause: str
    trials: int
    planned: int
    error: str


class Bounds(TypedDict):
    """The difference if all missing trials favoured the baseline, or the variant."""

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
    missing: list[MissingRow]  # the same by model, with the errors
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
    model_decoding: NotRequired[dict[str, dict[str, float | int | str]]]  # as models' own entries set it
    scoring: str
    variant: str | None
    words: int  # version of the words of prompts and agents
    benchmark_version: str
    gnomon_version: str


class IntegrityPart(TypedDict):
    """The section's field."""

    integrity: Integrity


class _Shown(JobPart, PlanPart, PreflightsPart, CostPart, IntegrityPart):
    """What the section shows."""


def _integrity(report_input: ReportInput) -> IntegrityPart:
    """Everything that a careful reader asks before believing a number."""
    scores, spec = report_input.scores, report_input.spec
    protocol, scoring = asked_and_scored(spec)
    part = report_input.part(contrasts)
    facts: Integrity = {
        "missing_by_cause": _causes(scores, Outcome.INFRA_MISSING),
        "missing": _missing_rows(report_input),
        "failed_by_cause": _causes(scores, Outcome.MODEL_FAILED),
        "flags": by_count(sum((totals.flags for totals in scores.totals), Counter())),
        "bounds": _bounds(scores, part["contrasts"]),
        "arm_differences": [] if is_imported(spec) else list(_arm_differences(spec)),
        "adapter_changes": list(_adapter_changes(scores)),
        "cache_hits": sum(totals.sums["cache_hits"] for totals in scores.totals),
        "seeds": {
            "select": spec.select.seed,
            "trials": UNKNOWN
            if is_imported(spec)
            else "hash of sample and repeat, the same for all models and arms",
            "sign_flips": SEED,
        },
        "spec_hash": report_input.spec_hash,
        "comparisons": len(looked_at(part)),
        "data_faults": by_count(Counter(issue.kind for issue in report_input.faults)),
        "protocol": protocol,
        "decoding": {task: decoding.known() for task, decoding in (spec.decoding or {}).items()},
        "model_decoding": {model.label: own for model in spec.models if (own := _own_decoding(model))},
        "scoring": scoring,
        "variant": spec.variant,
        "words": spec.words,
        "benchmark_version": report_input.benchmark.version,
        "gnomon_version": gnomon_version(),
    }
    return {"integrity": facts}


def gnomon_version() -> str:
    """The installed version; `unknown` where Gnomon runs without being installed."""
    try:
        return version("gnomon-eval")
    except PackageNotFoundError:
        return "unknown"


def _causes(scores: ScoreMatrix, outcome: Outcome) -> dict[str, int]:
    none: Counter[str] = Counter()
    return by_count(sum((totals.stop_reasons.get(outcome, none) for totals in scores.totals), Counter()))


def _missing_rows(report_input: ReportInput) -> list[MissingRow]:
    """By model, in the spec's order, and reason, most frequent first."""
    scores, spec = report_input.scores, report_input.spec
    rows: list[MissingRow] = []
    for model in spec.models:
        planned = sum(report_input.planned_of(scores.at[model.label, arm.name]) for arm in spec.arms)
        groups = scores.totals_of(model.label)
        lost = (totals.stop_reasons.get(Outcome.INFRA_MISSING, Counter()) for totals in groups)
        for cause, trials in by_count(sum(lost, Counter())).items():
            errors = sum((totals.errors[cause] for totals in groups if cause in totals.errors), Counter())
            rows.append(
                {
                    "model": model.label,
                    "cause": cause,
                    "trials": trials,
                    "planned": planned,
                    "error": escape_surrogates(said_most(errors)),
                }
            )
    return rows


def _bounds(scores: ScoreMatrix, contrasts: Sequence[ContrastReport]) -> list[Bounds]:
    everywhere = scores.everywhere()

    def missing(model: str, arm: str) -> float:
        return missing_share(scores, scores.at[(model, arm)], everywhere)

    return [
        {
            "model": contrast["model"],
            "baseline": contrast["baseline"],
            "variant": contrast["variant"],
            "low": ends[0],
            "high": ends[1],
            "missing_baseline": missing(contrast["model"], contrast["baseline"]),
            "missing_variant": missing(contrast["model"], contrast["variant"]),
        }
        for contrast in contrasts
        if contrast["scope"] == "all" and (ends := contrast["bounds"])
    ]


def _adapter_changes(scores: ScoreMatrix) -> Iterator[AdapterChange]:
    for (model, arm), totals in zip(scores.groups, scores.totals, strict=True):
        for flag, trials in sorted(totals.flags.items()):
            if flag.startswith(ADAPTER):
                name = flag.removeprefix(ADAPTER)
                yield {
                    "model": model,
                    "arm": arm,
                    "change": ADAPTER_WORDS.get(name, name),
                    "trials": trials,
                    "all_trials": totals.trials,
                }


def _own_decoding(model: ModelSpec) -> dict[str, float | int | str]:
    """What a model's entry sets of how replies are drawn: its own fields, and what it passes on."""
    if is_built_in(model.id):
        return {}
    passed_on = {name: value for name, value in model.options.items() if isinstance(value, int | float | str)}
    own = {"temperature": model.temperature, "max_tokens": model.max_tokens}
    return passed_on | {name: value for name, value in own.items() if value is not None}


def _decoding_rows(report: _Shown) -> Iterator[tuple[str, str]]:
    """How replies were drawn: as the protocol sets it, as models' entries do, and what nobody set."""
    job, facts = report["job"], report["integrity"]
    if job.get("imported"):
        yield "decoding", "unknown, as the trials were run elsewhere"
        return
    if job["jobs"]:  # each has its own
        return
    of_models = facts.get("model_decoding", {})  # absent from reports of older versions
    for task, drawn in facts["decoding"].items():
        of = "" if task == EVERY_TASK else f", {task}"
        yield (
            f"decoding by the protocol{of}",
            f"{settings_text(drawn)}, where a model’s own entry does not say otherwise",
        )
    for model, own in of_models.items():
        yield f"decoding, {model}", f"{settings_text(own)}, by its own entry"
    is_told = "model_decoding" in facts
    if not facts["decoding"] and (not is_told or len(of_models) < len(job["models"])):
        others = " of the other models" if of_models else ""
        unless = "" if is_told else ", where a model’s own entry does not say otherwise"
        yield f"decoding{others}", f"provider defaults{unless}"
    elif not facts["decoding"]:
        yield "decoding", "all else as the provider sets it"


def _view(report: _Shown) -> Mapping[str, object]:
    return {"decoding": list(_decoding_rows(report))}


def _arm_differences(spec: JobSpec) -> Iterator[ArmDifference]:
    for contrast in spec.contrasts():
        baseline, variant = spec.arm(contrast.baseline), spec.arm(contrast.variant)
        yield {
            "baseline": contrast.baseline,
            "variant": contrast.variant,
            "fields": differences(baseline, variant),
            "besides_tools": [difference.field for difference in contrast.confounds(baseline, variant)],
        }


def _terminal(report: _Shown) -> Iterator[str]:
    trials, facts = report["denominators"]["trials"], report["integrity"]
    ended = f"{trials['scored']:,} scored, {trials['model_failed']:,} failed by the model"
    missing = f"{trials['infra_missing']:,} missing, {trials['pending']:,} not ended"
    if trials.get("not_run"):  # absent from reports of older versions
        missing += f", {trials['not_run']:,} not run (stopped early)"
    yield ""
    yield f"Trials: {ended}, {missing}, of {trials['planned']:,}."
    for what, causes in (
        ("Missing", facts["missing_by_cause"]),
        ("Failed by the model", facts["failed_by_cause"]),
    ):
        if causes:
            yield f"{what}: {counted_causes(by_count(causes))}."


def _digest(report: _Shown) -> str:
    trials = report["denominators"]["trials"]
    return f"{trials['infra_missing']:,} missing, {trials['model_failed']:,} failed by the model"


integrity = Section(
    name="integrity",
    title="What could be wrong",
    question="What could be wrong with these figures?",
    fields=IntegrityPart,
    compute=_integrity,
    place=140,
    view=_view,
    terminal=_terminal,
    digest=_digest,
)
