"""Numbers of the comparisons of a job that may stop early: a confidence sequence over its first clusters.

Clusters come in an order drawn by chance. A comparison takes those at the head of that order of which every
trial of its two arms has ended, and no other: which of the others have ended may depend on how hard they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.core.sample import SampleRef
from gnomon.report.pairs import ArmPair
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Codes, Floats, Headline, design, strata_of
from gnomon.statistics.paired import Comparison, comparison_of
from gnomon.statistics.sequential import BettingSequence
from gnomon.trials.trial_plan import cluster_of

if TYPE_CHECKING:
    from gnomon.report.score_matrix import SampleScores

METHOD = "betting confidence sequence"
Mask = NDArray[np.bool_]


class LookedAtPair(TypedDict):
    """A primary contrast at a look."""

    model: str
    baseline: str
    variant: str
    samples: int
    clusters: int
    diff: float | None
    ci95: list[float] | None
    p_adjusted: float | None
    verdict: str


class Look(TypedDict):
    """A look at a job: after so many trials, and the first so many clusters of the plan."""

    trials: int
    samples: int
    clusters: int
    contrasts: list[LookedAtPair]
    decided: bool


class StoredLook(Look):
    """A look with its time, UTC in ISO 8601; `decided` is true of the one that stopped the job alone."""

    at: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnPlan:
    """The samples of a job in the order drawn, and where scores have them."""

    places: Codes  # by planned sample: its place among the samples of the scores; -1 where it has no trial
    clusters: Codes  # by planned sample: its cluster's place in the order drawn
    cells: Codes  # by planned sample
    cell_names: tuple[str, ...]
    repeats: Mapping[str, int]  # by arm

    @property
    def clusters_n(self) -> int:
        """How many clusters are planned."""
        return int(self.clusters.max()) + 1

    @property
    def not_run(self) -> int:
        """How many planned samples have no trial."""
        return int(np.count_nonzero(self.places < 0))

    def leading(self, scores: "SampleScores", pair: ArmPair) -> int:
        """How many clusters have ended at the head of the order, under both arms."""
        has_ended = np.ones(len(self.places), dtype=np.bool_)
        for group, arm in zip(scores.groups_of(pair), (pair.baseline, pair.variant), strict=True):
            ended = self._planned(scores.answered[group] + scores.missing[group], 0)
            has_ended &= ended >= self.repeats[arm]
        return int(self.clusters[~has_ended].min(initial=self.clusters_n))

    def samples_of(self, clusters: int) -> int:
        """How many samples the first so many clusters have."""
        return int(np.count_nonzero(self.clusters < clusters))

    def within(self, scores: "SampleScores", pair: ArmPair) -> Mask:
        """The samples that a comparison of the pair takes, as the scores have them."""
        mask = np.zeros(len(scores.cells), dtype=np.bool_)
        first = self.places[self.clusters < self.leading(scores, pair)]
        mask[first[first >= 0]] = True
        return mask

    def compare(
        self,
        comparison: Comparison,
        scores: "SampleScores",
        pair: ArmPair,
        scope: str,
        *,
        headline: Headline,
        means: Sequence[Floats],
    ) -> tuple[Comparison, tuple[float, float]]:
        """The comparison with the numbers of the sequence, and the arms' means, from `means` by sample.

        A sample weighs what it weighs in the whole plan, so that all weights are fixed before any answer.
        Pairs of which a trial is missing are left out, as in every other comparison.
        """
        in_scope = np.ones(len(self.cells), dtype=np.bool_)
        if scope != "all":
            in_scope = self.cells == self.cell_names.index(scope)
        weights = np.zeros(len(self.cells))
        planned = design(strata_of(self.cells[in_scope], headline), self.clusters[in_scope])
        weights[in_scope] = planned.weights
        largest = float(np.bincount(self.clusters, weights).max())
        baseline, variant = (self._planned(of_arm, np.nan) for of_arm in means)
        used = in_scope & (self.clusters < self.leading(scores, pair))
        used &= np.isfinite(baseline) & np.isfinite(variant)
        weights, baseline, variant = weights[used], baseline[used], variant[used]
        sums: Floats = np.bincount(self.clusters[used], weights * (variant - baseline)).astype(np.float64)
        sizes: Floats = np.bincount(self.clusters[used], weights).astype(np.float64)
        part = BettingSequence.of(sums[sizes > 0], sizes[sizes > 0], largest=largest)
        of_arms = [float(np.average(arm, weights=weights)) for arm in (baseline, variant)]
        if comparison.reach is None:
            return comparison, (of_arms[0], of_arms[1])
        estimate = replace(comparison.reach.estimate, value=part.value)
        reach = replace(comparison.reach, parts=[part], estimate=estimate)
        sequential = comparison_of(estimate, reach, test=part.name, interval_method=METHOD)
        return sequential, (of_arms[0], of_arms[1])

    def _planned(self, values: NDArray[Any], absent: float) -> NDArray[Any]:
        """Values by sample of the scores, by planned sample."""
        return np.append(values, absent)[self.places]


def drawn_plan(spec: JobSpec, refs: Sequence[SampleRef], samples: Iterable[str]) -> DrawnPlan:
    """The plan of `refs`, which are in the order drawn, for scores that have `samples`."""
    at = {sample: place for place, sample in enumerate(samples)}
    ranks: dict[tuple[str, str], int] = {}
    clusters = [ranks.setdefault(cluster_of(spec, ref), len(ranks)) for ref in refs]
    cell_names = tuple(sorted({ref.cell for ref in refs}))
    cell_at = {name: code for code, name in enumerate(cell_names)}
    return DrawnPlan(
        places=np.array([at.get(ref.sample_id, -1) for ref in refs], dtype=np.intp),
        clusters=np.array(clusters, dtype=np.intp),
        cells=np.array([cell_at[ref.cell] for ref in refs], dtype=np.intp),
        cell_names=cell_names,
        repeats=spec.repeats_by_arm,
    )
