"""The looks of a job that may stop early: which clusters they take, and at which level each is read.

Clusters come in an order drawn by chance. A comparison takes those up to the last planned look of which every
trial of its two arms has ended, and no other: which of the others have ended may depend on how hard they are.
So it does not matter when anybody looks.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.core.sample import SampleRef
from gnomon.report.pairs import ArmPair, pairs
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Codes, Headline, design, strata_of
from gnomon.statistics.sequential import ALPHA, Looks, look_points
from gnomon.trials.trial_plan import cluster_of

if TYPE_CHECKING:
    from gnomon.report.score_matrix import SampleScores

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
    """A look at a job: after so many trials, and the first so many clusters of the plan.

    `decided` says that every contrast is, or will hardly be by the last look.
    """

    trials: int
    samples: int
    clusters: int
    contrasts: list[LookedAtPair]
    decided: bool


class StoredLook(Look):
    """A look with its time, UTC in ISO 8601; `decided` is true of the one that stopped the job alone."""

    at: str


def stop_words(look: StoredLook) -> tuple[str, str]:
    """How the look that stopped a job ended it, and why, if not everything was decided."""
    if all(pair["verdict"] != "undecided" for pair in look["contrasts"]):
        return "Decided", ""
    return "Stopped", ", as more would hardly decide it"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnPlan:
    """The samples of a job in the order drawn, and where scores have them."""

    places: Codes  # by planned sample: its place among the samples of the scores; -1 where it has no trial
    clusters: Codes  # by planned sample: its cluster's place in the order drawn
    repeats: Mapping[str, int]  # by arm
    looks: Looks

    @property
    def clusters_n(self) -> int:
        """How many clusters are planned."""
        return self.looks.clusters[-1]

    @property
    def not_run(self) -> int:
        """How many planned samples have no trial."""
        return int(np.count_nonzero(self.places < 0))

    def look(self, scores: "SampleScores", pair: ArmPair) -> int:
        """The number of the last look whose clusters have ended under both arms; 0: none yet."""
        has_ended = np.ones(len(self.places), dtype=np.bool_)
        for group, arm in zip(scores.groups_of(pair), (pair.baseline, pair.variant), strict=True):
            ended = np.append(scores.answered[group] + scores.missing[group], 0)[self.places]
            has_ended &= ended >= self.repeats[arm]
        leading = int(self.clusters[~has_ended].min(initial=self.clusters_n))
        return bisect_right(self.looks.clusters, leading)

    def clusters_at(self, look: int) -> int:
        """How many clusters the look of that number takes."""
        return self.looks.clusters[look - 1] if look else 0

    def samples_of(self, clusters: int) -> int:
        """How many samples the first so many clusters have."""
        return int(np.count_nonzero(self.clusters < clusters))

    @property
    def too_early(self) -> str:
        """Why there is no comparison before the first look."""
        return f"the first look comes after {self.looks.clusters[0]:,} of {self.clusters_n:,} clusters"

    def within(self, scores: "SampleScores", pair: ArmPair) -> Mask:
        """The samples that a comparison of the pair takes, as the scores have them."""
        mask = np.zeros(len(scores.cells), dtype=np.bool_)
        first = self.places[self.clusters < self.clusters_at(self.look(scores, pair))]
        mask[first[first >= 0]] = True
        return mask


def drawn_plan(
    spec: JobSpec, refs: Sequence[SampleRef], samples: Iterable[str], *, headline: Headline
) -> DrawnPlan:
    """The plan of `refs`, which are in the order drawn, for scores that have `samples`."""
    at = {sample: place for place, sample in enumerate(samples)}
    ranks: dict[tuple[str, str], int] = {}
    clusters = np.array([ranks.setdefault(cluster_of(spec, ref), len(ranks)) for ref in refs], dtype=np.intp)
    cells = np.unique([ref.cell for ref in refs], return_inverse=True)[1].astype(np.intp)
    alpha = ALPHA / sum(pair.is_primary for pair in pairs(spec))
    return DrawnPlan(
        places=np.array([at.get(ref.sample_id, -1) for ref in refs], dtype=np.intp),
        clusters=clusters,
        repeats=spec.repeats_by_arm,
        looks=_looks(clusters, cells, headline, alpha),
    )


def _looks(clusters: Codes, cells: Codes, headline: Headline, alpha: float) -> Looks:
    """The looks; none comes before every cell has a sample: the mean would be one of fewer cells."""
    first_of_cell = np.full(int(cells.max()) + 1, len(clusters))
    np.minimum.at(first_of_cell, cells, clusters)
    looks = [point for point in look_points(int(clusters.max()) + 1) if point > first_of_cell.max()]
    planned = design(strata_of(cells, headline), clusters)
    ended = np.cumsum(np.bincount(clusters, planned.weights))[np.array(looks) - 1]
    return Looks(clusters=tuple(looks), ended=(*ended[:-1].tolist(), 1.0), alpha=alpha)
