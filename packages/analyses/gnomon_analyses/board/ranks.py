"""Ranks the models of jobs that asked the same questions in the same way, with ranks as ranges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gnomon.core.ids import stable_hash
from gnomon.exchange.foreign import benchmark_called
from gnomon.exchange.imported_job import UNKNOWN, is_imported
from gnomon.report.compared_pair import compare_pair
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import Group
from gnomon.report.verdict import ALPHA
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.estimate import Ends
from gnomon.statistics.mean import MeanScore
from gnomon.statistics.multiple_testing import holm
from gnomon_analyses.comparing.compared_jobs import IndexedJob, group_means, paired_scores

FROZEN = ("benchmark", "data", "select", "protocol", "decoding", "scoring", "variant")
MOST_PAIRED = 8  # entries that are compared in pairs; of more, the intervals of their means are


def board_key(spec: JobSpec) -> str:
    """What jobs of one board share: the fields FROZEN of their specs, not models, arms, limits or name. How
    imported ones were asked and scored is unknown, so they share none with others.
    """
    frozen = spec.model_dump(mode="json", include=set(FROZEN))
    return stable_hash({**frozen, "protocol": UNKNOWN} if is_imported(spec) else frozen, size=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model of a job. It is ranked by its best arm; `rank` is the first and last place it may have."""

    job: IndexedJob
    model: str
    best: Group
    means: Mapping[str, MeanScore]  # by arm
    rank: tuple[int, int] = (1, 1)

    @property
    def mean(self) -> MeanScore:
        return self.means[self.best[1]]


def ranked(jobs: Sequence[IndexedJob]) -> list[Entry]:
    """The models of these jobs, the best mean first.

    A model may take another place unless it is told apart: by the paired difference on the samples that both
    have (p below 0.05 after Holm) among at most MOST_PAIRED entries, else by intervals that do not meet; both
    also with unknown replies at worst.
    """
    entries = sorted((entry for job in jobs for entry in _entries(job)), key=lambda entry: -entry.mean.mean)
    apart = _told_apart(entries)
    return [
        replace(
            entry,
            rank=(
                1 + sum(apart[other, place] for other in range(place)),
                len(entries) - sum(apart[place, other] for other in range(place + 1, len(entries))),
            ),
        )
        for place, entry in enumerate(entries)
    ]


def _entries(job: IndexedJob) -> list[Entry]:
    means = group_means(job)
    entries = []
    for model in dict.fromkeys(name for name, _ in means):
        of_arms = {arm: mean for (name, arm), mean in means.items() if name == model}
        best = max(of_arms, key=lambda arm: of_arms[arm].mean)
        entries.append(Entry(job=job, model=model, best=(model, best), means=of_arms))
    return entries


def _told_apart(entries: Sequence[Entry]) -> dict[tuple[int, int], bool]:
    """By the places of a better and a worse entry, whether their difference is more than chance."""
    pairs = list(combinations(range(len(entries)), 2))
    if len(entries) > MOST_PAIRED:
        return {(a, b): _intervals_part(entries[a], entries[b]) for a, b in pairs}
    p_values = [_p(entries[a], entries[b]) for a, b in pairs]
    return {
        pair: p < ALPHA
        for pair, p in zip(pairs, holm([1.0 if p is None else p for p in p_values]), strict=True)
    }


def _intervals_part(better: Entry, worse: Entry) -> bool:
    """Whether they do not meet, also with unknown replies of the better one wrong and of the other right."""
    ends = [(_ci95(better, low), _ci95(worse, high)) for low, high in ((None, None), (0.0, 1.0))]
    return all(above and below and below[1] < above[0] for above, below in ends)


def _ci95(entry: Entry, unknown_as: float | None) -> Ends | None:
    return group_means(entry.job, unknown_as=unknown_as)[entry.best].ci95


def _p(better: Entry, worse: Entry) -> float | None:
    state = worse.job.job_id, worse.job.index.size, worse.job.index.last_seq
    key = ("board", *state, better.best, worse.best)
    return better.job.index.once(key, lambda: _paired_p(better, worse))


def _paired_p(better: Entry, worse: Entry) -> float | None:
    scores = paired_scores(better.job, worse.job, (better.best, worse.best))
    pair = ArmPair(model="", baseline="worse", variant="better", is_primary=True)
    headline = benchmark_called(better.job.spec.benchmark).headline
    everywhere = np.ones(len(scores.samples), np.bool_)
    if not everywhere.any():
        return None
    result = compare_pair(scores, pair, "all", everywhere, headline=headline)
    compared = [each.comparison for each in (result, *result.ways) if each.comparison]
    p_values = [each.p for each in compared if each.p is not None]
    if not p_values:
        return None
    is_same_side = all((each.diff > 0) == (compared[0].diff > 0) for each in compared)
    return max(p_values) if is_same_side else 1.0
