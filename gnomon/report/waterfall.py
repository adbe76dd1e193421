"""Waterfall: from one arm to the next, which step changes how much."""

import numpy as np

from gnomon.report.arms import interval
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import Waterfall, WaterfallStep
from gnomon.statistics.design import Headline, design, strata_of
from gnomon.statistics.paired import compare


def waterfalls(
    ledger: ScoreMatrix, models: list[str], chain: list[str], *, headline: Headline
) -> list[Waterfall]:
    """By model, the steps between the arms of `chain`; nothing for fewer than two arms.

    All steps are over the samples that every arm of the chain has answered, so that they add up exactly.
    """
    if len(chain) < 2:
        return []
    return [found for model in models if (found := _waterfall(ledger, model, chain, headline))]


def _waterfall(ledger: ScoreMatrix, model: str, chain: list[str], headline: Headline) -> Waterfall | None:
    groups = [ledger.at[model, arm] for arm in chain]
    all_answered = np.all([ledger.answered[group] > 0 for group in groups], axis=0)
    if not all_answered.any():
        return None
    grouping = design(strata_of(ledger.cells[all_answered], headline), ledger.clusters[all_answered])
    scores = [ledger.scores(group)[all_answered] for group in groups]
    levels = [grouping.mean(values) for values in scores]
    steps: list[WaterfallStep] = []
    for at in range(1, len(chain)):
        found = compare(scores[at - 1], scores[at], grouping)
        steps.append(
            {
                "baseline": chain[at - 1],
                "variant": chain[at],
                "start": levels[at - 1],
                "end": levels[at],
                "diff": found.diff,
                "ci95": interval(found.ci95),
            }
        )
    return {
        "model": model,
        "n": int(np.sum(all_answered)),
        "start": levels[0],
        "end": levels[-1],
        "steps": steps,
    }
