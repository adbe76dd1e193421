"""The report's integrity box: what could be wrong, counted and named."""

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from gnomon.arm import differences
from gnomon.benchmark import Benchmark
from gnomon.identity import digest
from gnomon.outcome import Outcome
from gnomon.report.arms import by_count
from gnomon.report.contrasts import Pair, pairs
from gnomon.report.ledger import Ledger
from gnomon.report.schema import ArmDifference, Bounds, Contrast, Integrity
from gnomon.sample import DataFault
from gnomon.spec import JobSpec
from gnomon.statistics.exact import SEED

# An arm with tools needs an agent that calls them and room to do so: these are the treatment itself.
TREATMENT = {"agent", "tools", "tool_choice", "max_turns", "max_tool_calls"}


def integrity(
    ledger: Ledger,
    spec: JobSpec,
    *,
    benchmark: Benchmark,
    contrasts: Sequence[Contrast],
    faults: Sequence[DataFault],
) -> Integrity:
    """Everything that a careful reader asks before believing a number."""
    return {
        "missing_by_cause": _causes(ledger, Outcome.INFRA_MISSING),
        "failed_by_cause": _causes(ledger, Outcome.MODEL_FAILED),
        "flags": by_count(sum((tally.flags for tally in ledger.tallies), Counter())),
        "bounds": [found for pair in pairs(spec) if (found := _bounds(ledger, pair, contrasts))],
        "arm_differences": _arm_differences(spec),
        "cache_hits": sum(tally.known["cache_hits"] for tally in ledger.tallies),
        "seeds": {
            "select": spec.select.seed,
            "trials": "hash of sample and repeat, the same for all models and arms",
            "sign_flips": SEED,
        },
        "spec_hash": digest(spec.model_dump(mode="json")),
        "comparisons": sum(contrast["p"] is not None for contrast in contrasts),
        "data_faults": by_count(Counter(fault.kind for fault in faults)),
        "protocol": spec.protocol,
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


def _causes(ledger: Ledger, outcome: Outcome) -> dict[str, int]:
    none: Counter[str] = Counter()
    return by_count(sum((tally.stop_reasons.get(outcome, none) for tally in ledger.tallies), Counter()))


def _bounds(ledger: Ledger, pair: Pair, contrasts: Sequence[Contrast]) -> Bounds | None:
    key = (pair.model, pair.baseline, pair.variant, "all")
    for contrast in contrasts:
        same = (contrast["model"], contrast["baseline"], contrast["variant"], contrast["scope"]) == key
        if same and contrast["bounds"] is not None:
            return {
                "model": pair.model,
                "baseline": pair.baseline,
                "variant": pair.variant,
                "low": contrast["bounds"][0],
                "high": contrast["bounds"][1],
                "missing_baseline": _missing_share(ledger, pair.model, pair.baseline),
                "missing_variant": _missing_share(ledger, pair.model, pair.variant),
            }
    return None


def _missing_share(ledger: Ledger, model: str, arm: str) -> float:
    tally = ledger.tallies[ledger.groups.index((model, arm))]
    return tally.outcomes[Outcome.INFRA_MISSING] / tally.trials if tally.trials else 0.0


def _arm_differences(spec: JobSpec) -> list[ArmDifference]:
    found: list[ArmDifference] = []
    for pair in pairs(spec):
        if pair.model != spec.models[0].label:
            continue
        fields = differences(spec.arm(pair.baseline), spec.arm(pair.variant))
        besides = [name for name in fields if name not in TREATMENT]
        found.append(
            {"baseline": pair.baseline, "variant": pair.variant, "fields": fields, "besides_tools": besides}
        )
    return found
