"""The report's integrity box: what could be wrong, counted and named."""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

from gnomon.core.arm import differences
from gnomon.core.benchmark import Benchmark
from gnomon.core.ids import stable_hash
from gnomon.core.row import ADAPTER
from gnomon.core.sample import DataFault
from gnomon.core.score import Outcome
from gnomon.report.arms import by_count
from gnomon.report.contrasts import missing_share
from gnomon.report.missing import MissingRow
from gnomon.report.schema import AdapterChange, ArmDifference, Bounds, ContrastReport, Integrity
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.spec.job_spec import JobSpec
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


def integrity(
    ledger: ScoreMatrix,
    spec: JobSpec,
    *,
    benchmark: Benchmark,
    contrasts: Sequence[ContrastReport],
    faults: Sequence[DataFault],
    missing: list[MissingRow],
) -> Integrity:
    """Everything that a careful reader asks before believing a number."""
    return {
        "missing_by_cause": _causes(ledger, Outcome.INFRA_MISSING),
        "missing": missing,
        "failed_by_cause": _causes(ledger, Outcome.MODEL_FAILED),
        "flags": by_count(sum((tally.flags for tally in ledger.tallies), Counter())),
        "bounds": _bounds(ledger, contrasts),
        "arm_differences": _arm_differences(spec),
        "adapter_changes": list(_adapter_changes(ledger)),
        "cache_hits": sum(tally.known["cache_hits"] for tally in ledger.tallies),
        "seeds": {
            "select": spec.select.seed,
            "trials": "hash of sample and repeat, the same for all models and arms",
            "sign_flips": SEED,
        },
        "spec_hash": stable_hash(spec.model_dump(mode="json")),
        "comparisons": sum(contrast["p"] is not None for contrast in contrasts),
        "data_faults": by_count(Counter(fault.kind for fault in faults)),
        "protocol": spec.protocol,
        "decoding": {task: one.known() for task, one in (spec.decoding or {}).items()},
        "scoring": spec.scoring,
        "variant": spec.variant,
        "benchmark_version": benchmark.version,
        "gnomon_version": gnomon_version(),
    }


def gnomon_version() -> str:
    """The installed version; `unknown` where Gnomon runs without being installed."""
    try:
        return version("gnomon-eval")
    except PackageNotFoundError:
        return "unknown"


def _causes(ledger: ScoreMatrix, outcome: Outcome) -> dict[str, int]:
    none: Counter[str] = Counter()
    return by_count(sum((tally.stop_reasons.get(outcome, none) for tally in ledger.tallies), Counter()))


def _bounds(ledger: ScoreMatrix, contrasts: Sequence[ContrastReport]) -> list[Bounds]:
    everywhere = ledger.everywhere()

    def missing(model: str, arm: str) -> float:
        return missing_share(ledger, ledger.at[(model, arm)], everywhere)

    return [
        {
            "model": one["model"],
            "baseline": one["baseline"],
            "variant": one["variant"],
            "low": ends[0],
            "high": ends[1],
            "missing_baseline": missing(one["model"], one["baseline"]),
            "missing_variant": missing(one["model"], one["variant"]),
        }
        for one in contrasts
        if one["scope"] == "all" and (ends := one["bounds"])
    ]


def _adapter_changes(ledger: ScoreMatrix) -> Iterator[AdapterChange]:
    for (model, arm), tally in zip(ledger.groups, ledger.tallies, strict=True):
        for flag, trials in sorted(tally.flags.items()):
            if flag.startswith(ADAPTER):
                name = flag.removeprefix(ADAPTER)
                yield {
                    "model": model,
                    "arm": arm,
                    "change": ADAPTER_WORDS.get(name, name),
                    "trials": trials,
                    "all_trials": tally.trials,
                }


def _arm_differences(spec: JobSpec) -> list[ArmDifference]:
    found: list[ArmDifference] = []
    for one in spec.contrasts():
        baseline, variant = spec.arm(one.baseline), spec.arm(one.variant)
        besides = [difference.field for difference in one.confounds(baseline, variant)]
        found.append(
            {
                "baseline": one.baseline,
                "variant": one.variant,
                "fields": differences(baseline, variant),
                "besides_tools": besides,
            }
        )
    return found
