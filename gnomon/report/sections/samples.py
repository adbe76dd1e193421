"""Names samples that did not flip and are worth a look: both arms missed them, or they have no score.

The page opens some of them and some of the flipped ones, where the questions can be opened again.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import PairKey, ReportInput, Section, pair_key
from gnomon.statistics.design import Codes
from gnomon.stopping import while_wanted

LISTED = 20  # of each kind


class OtherSample(TypedDict):
    """A sample as both arms answered it; a score is null where there is none."""

    sample_id: str
    cell: str
    baseline_score: float | None
    variant_score: float | None
    baseline_answer: str | None
    variant_answer: str | None
    baseline_trial: str | None
    variant_trial: str | None


class OtherSamples(TypedDict):
    """Samples of one comparison that did not flip: at most 20 of each kind, from many subsets."""

    model: str
    baseline: str
    variant: str
    both_wrong: list[OtherSample]
    without_score: list[OtherSample]


class SamplesPart(TypedDict):
    """Of every comparison samples that did not flip."""

    other_samples: list[OtherSamples]


def _samples(report_input: ReportInput) -> SamplesPart:
    pairs = while_wanted(report_input.pairs)
    return {"other_samples": [_other_samples(report_input.scores, pair) for pair in pairs]}


def _other_samples(scores: ScoreMatrix, pair: ArmPair) -> OtherSamples:
    first, second = scores.groups_of(pair)
    baseline, variant = scores.means(first), scores.means(second)
    both = np.isfinite(baseline) & np.isfinite(variant)
    is_lost = (scores.missing[first] > 0) & np.isnan(baseline)
    is_lost |= (scores.missing[second] > 0) & np.isnan(variant)

    def listed(chosen: NDArray[np.bool_]) -> list[OtherSample]:
        return [
            {
                "sample_id": scores.samples[sample],
                "cell": scores.cell_names[scores.cells[sample]],
                "baseline_score": _score(baseline[sample]),
                "variant_score": _score(variant[sample]),
                "baseline_answer": scores.answer(first, sample),
                "variant_answer": scores.answer(second, sample),
                "baseline_trial": scores.trial(first, sample),
                "variant_trial": scores.trial(second, sample),
            }
            for sample in spread(np.flatnonzero(chosen), scores.cells)[:LISTED].tolist()
        ]

    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "both_wrong": listed(both & ~scores.right(first) & ~scores.right(second)),
        "without_score": listed(is_lost),
    }


def _score(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def spread(samples: Codes, cells: Codes) -> Codes:
    """The samples so that the first of every cell come first, then the second of every cell, and so on.

    >>> spread(np.array([0, 1, 2, 3]), np.array([7, 7, 7, 8])).tolist()
    [0, 3, 1, 2]
    """
    own = cells[samples]
    by_cell = np.argsort(own, kind="stable")
    starts = np.searchsorted(own[by_cell], own[by_cell])  # of each sample's cell
    turns = np.empty(len(own), np.intp)
    turns[by_cell] = np.arange(len(own)) - starts
    return samples[np.argsort(turns, kind="stable")]


def _view(report: SamplesPart) -> Mapping[PairKey, Mapping[str, object]]:
    return {
        pair_key(other): {"other": other}
        for other in report.get("other_samples", ())  # absent from reports of older versions
    }


samples = Section(
    name="samples",
    title="Samples, one by one",
    question="What was asked, and how did each arm answer?",
    fields=SamplesPart,
    compute=_samples,
    place=52,
    view=_view,
    per_comparison=True,
)
