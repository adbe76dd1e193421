"""The report's arms: what each model scored under each arm."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gnomon.core.score import Outcome
from gnomon.report.group_totals import GroupTotals
from gnomon.report.schema import ArmReport, CellMean, TrialCounts
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import Interval
from gnomon.statistics.design import Headline, design, strata_of
from gnomon.statistics.mean import MeanScore, mean_score


def arm_report(
    ledger: ScoreMatrix, group: int, *, headline: Headline, planned: int, repeats: int
) -> ArmReport:
    """One group's scores and counts; `planned` are its trials."""
    model, arm = ledger.groups[group]
    everywhere = ledger.everywhere()
    plain = _mean(ledger, group, everywhere, "mean_of_samples")
    aggregate = _mean(ledger, group, everywhere, headline)
    tally = ledger.tallies[group]
    return {
        "model": model,
        "arm": arm,
        "n": plain.n if plain else 0,
        "planned": planned // repeats,
        "clusters": plain.clusters if plain else 0,
        "mean": plain.mean if plain else None,
        "ci95": interval(plain.ci95 if plain else None),
        "by_task": {
            name: _cell(ledger, group, ledger.cells == code) for code, name in enumerate(ledger.cell_names)
        },
        "aggregate": aggregate.mean if aggregate else None,
        "aggregate_ci95": interval(aggregate.ci95 if aggregate else None),
        "interval_method": aggregate.method if aggregate else "none: nothing answered",
        "trials": trial_counts([tally], planned),
        "stop_reasons": by_count(_stop_reasons(tally)),
        "model_calls": tally.known["model_calls"],
        "cache_hits": tally.known["cache_hits"],
        "tools_offered": list(tally.tools_offered) if tally.tools_offered else None,
    }


def trial_counts(tallies: list[GroupTotals], planned: int) -> TrialCounts:
    """How the trials of these groups ended, out of those planned."""
    ended = {outcome: sum(tally.outcomes[outcome] for tally in tallies) for outcome in Outcome}
    finished = sum(ended.values())
    return {
        "planned": planned,
        "finished": finished,
        "scored": ended[Outcome.SCORED],
        "model_failed": ended[Outcome.MODEL_FAILED],
        "infra_missing": ended[Outcome.INFRA_MISSING],
        "pending": max(planned - finished, 0),
    }


def interval(ends: tuple[float, float] | None) -> Interval:
    """Ends of an interval as JSON has them."""
    return None if ends is None else [float(ends[0]), float(ends[1])]


def by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts, largest first, equal ones by name.

    >>> list(by_count({"b": 1, "a": 1, "c": 2}))
    ['c', 'a', 'b']
    """
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _stop_reasons(tally: GroupTotals) -> dict[str, int]:
    total: dict[str, int] = {}
    for counts in tally.stop_reasons.values():
        for reason, count in counts.items():
            total[reason] = total.get(reason, 0) + count
    return total


def _cell(ledger: ScoreMatrix, group: int, within: NDArray[np.bool_]) -> CellMean:
    found = _mean(ledger, group, within, "mean_of_samples")
    if found is None:
        return {"n": 0, "mean": None, "ci95": None}
    return {"n": found.n, "mean": found.mean, "ci95": interval(found.ci95)}


def _mean(ledger: ScoreMatrix, group: int, within: NDArray[np.bool_], headline: Headline) -> MeanScore | None:
    chosen = within & (ledger.answered[group] > 0)
    if not chosen.any():
        return None
    grouping = design(strata_of(ledger.cells[chosen], headline), ledger.clusters[chosen])
    return mean_score(ledger.scores(group)[chosen], grouping)
