"""Pairs the answers to a question with those to the same question in another guise, model by model."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gnomon.core.clock import day_span, span_iou
from gnomon.core.row_batch import RowBatch
from gnomon.report.cluster_codes import cluster_codes, plain_design
from gnomon.report.score_matrix import RIGHT
from gnomon.statistics.design import Design, Floats, Headline, design, strata_of
from gnomon.statistics.mean import MeanScore, mean_score
from gnomon.statistics.paired import Comparison, Ratio, compare, ratio_of_means
from gnomon_analyses.statistics.consistency import Answers, share_equal, share_of_strangers, share_repeated

Key = tuple[str, str]  # model, arm
OUTCOMES = ("both_right", "right_then_wrong", "wrong_then_right", "both_wrong_same", "both_wrong_other")


@dataclass(frozen=True, slots=True)
class Reply:
    """A trial's answer in the original question's terms, and whether it was right."""

    repeat: int
    answer: str | None
    times: str | None
    score: float


@dataclass(slots=True)
class RepliesBySample:
    """The replies of one model under one arm, by sample."""

    transform: str | None = None
    original: str | None = None  # the arm that asks the original question
    replies: dict[str, list[Reply]] = field(default_factory=lambda: defaultdict(list))


class TransformedAnswers:
    """Takes note of the rows of a job that has transformed arms; of other jobs it keeps nothing."""

    def __init__(self) -> None:
        self.groups: dict[Key, RepliesBySample] = {}
        self.places: dict[str, tuple[str, str]] = {}  # cell and cluster of a sample

    def add(self, batch: RowBatch) -> None:
        """Keep the answers that are given in the terms of the original."""
        metrics = batch.distinct("metrics")
        for row in batch.rows(metrics.places(lambda metrics: "original_answer" in metrics)):
            if row.score is None:
                continue
            group = self.groups.setdefault((row.model, row.arm), RepliesBySample())
            group.transform = _text(row.metrics.get("transform"))
            group.original = _text(row.metrics.get("original_arm"))
            answer, times = (_text(row.metrics.get(name)) for name in ("original_answer", "original_times"))
            group.replies[row.sample_id].append(
                Reply(repeat=row.repeat, answer=answer, times=times, score=row.score)
            )
            self.places.setdefault(row.sample_id, (row.cell, row.cluster or row.sample_id))

    def pairs(self) -> Iterator["TransformedPair"]:
        """Each transformed arm of each model with the arm that asks the original, in the order of names."""
        for (model, arm), group in sorted(self.groups.items()):
            original = self.groups.get((model, group.original)) if group.original else None
            if group.transform is None or group.original is None or original is None:
                continue
            samples = sorted(group.replies.keys() & original.replies.keys())
            if samples:
                yield TransformedPair(
                    model=model,
                    original=group.original,
                    transformed=arm,
                    transform=group.transform,
                    replies=[(original.replies[name], group.replies[name]) for name in samples],
                    cells=[self.places[name][0] for name in samples],
                    clusters=[self.places[name][1] for name in samples],
                )


@dataclass(frozen=True, kw_only=True)
class TransformedPair:
    """Two arms of a model over the samples that have a score under both."""

    model: str
    original: str
    transformed: str
    transform: str
    replies: Sequence[tuple[Sequence[Reply], Sequence[Reply]]]  # by sample: original's, transformed's
    cells: Sequence[str]
    clusters: Sequence[str]

    def agreement(self) -> MeanScore | None:
        """The share of answers that agree, over the samples answered under both arms; None of none."""
        values = [share_equal(_answers(first), _answers(second)) for first, second in self.replies]
        answered = [at for at, value in enumerate(values) if value is not None]
        if not answered:
            return None
        shares = np.array([value for value in values if value is not None], dtype=np.float64)
        return mean_score(shares, plain_design([self.clusters[at] for at in answered]))

    def chance(self) -> float | None:
        """How often answers would agree that know nothing of the question but which cell it is of: those of
        different samples of a cell, one under each arm. None where no cell has two answered samples.
        """
        by_cell: dict[str, list[tuple[Answers, Answers]]] = defaultdict(list)
        for cell, (first, second) in zip(self.cells, self.replies, strict=True):
            ours, theirs = _answers(first), _answers(second)
            if ours and theirs:
                by_cell[cell].append((ours, theirs))
        enough = [pairs for pairs in by_cell.values() if len(pairs) > 1]
        if not enough:
            return None
        return sum(share_of_strangers(pairs) * len(pairs) for pairs in enough) / sum(map(len, enough))

    def repeated(self, side: int) -> float | None:
        """How often repeats of one arm agree: 0, the original's, or 1; None without repeats."""
        shares = [share_repeated(_answers(replies[side])) for replies in self.replies]
        repeated = [share for share in shares if share is not None]
        return sum(repeated) / len(repeated) if repeated else None

    def overlap_of_times(self) -> tuple[float | None, int]:
        """Mean overlap (intersection over union) of the times that both arms name, and of how many pairs."""
        overlaps = [
            overlap
            for first, second in self._same_repeats()
            if (overlap := _overlap(first.times, second.times)) is not None
        ]
        return (sum(overlaps) / len(overlaps) if overlaps else None), len(overlaps)

    def outcomes(self) -> dict[str, int]:
        """Pairs of trials of the same repeat, by who was right; wrong ones by whether answers agree."""
        counts = dict.fromkeys(OUTCOMES, 0)
        for first, second in self._same_repeats():
            before, after = first.score >= RIGHT, second.score >= RIGHT
            if before or after:
                name = (
                    "both_right" if before and after else "right_then_wrong" if before else "wrong_then_right"
                )
            else:
                is_same = first.answer is not None and first.answer == second.answer
                name = "both_wrong_same" if is_same else "both_wrong_other"
            counts[name] += 1
        return counts

    @cached_property
    def scores(self) -> tuple[Floats, Floats]:
        """By sample the mean score under the original and under the transformed arm."""
        first, second = (
            np.array([np.mean([reply.score for reply in replies[side]]) for replies in self.replies])
            for side in (0, 1)
        )
        return first, second

    def grouping(self, headline: Headline) -> Design:
        """The samples as the benchmark's headline averages them."""
        cells = np.unique(self.cells, return_inverse=True)[1].astype(np.intp)
        return design(strata_of(cells, headline), *cluster_codes(self.clusters, np.arange(len(cells))))

    def drop(self, headline: Headline) -> Comparison:
        """Score of the original minus score of the transformed question."""
        original, transformed = self.scores
        return compare(transformed, original, self.grouping(headline))

    def remembered(self, headline: Headline) -> Ratio | None:
        """The drop over the share that the transformed arm leaves wrong; None where no score changes.

        Its interval would be ±0 then, and no sample shows how far chance reaches.
        """
        original, transformed = self.scores
        if np.array_equal(original, transformed):
            return None
        return ratio_of_means(original - transformed, 1.0 - transformed, self.grouping(headline))

    def _same_repeats(self) -> Iterator[tuple[Reply, Reply]]:
        for first, second in self.replies:
            by_repeat = {reply.repeat: reply for reply in second}
            for reply in first:
                if reply.repeat in by_repeat:
                    yield reply, by_repeat[reply.repeat]


def _text(value: float | str | None) -> str | None:
    return value if isinstance(value, str) else None


def _answers(replies: Sequence[Reply]) -> Answers:
    return [reply.answer for reply in replies if reply.answer is not None]


def _overlap(first: str | None, second: str | None) -> float | None:
    if first is None or second is None:
        return None
    pairs = list(zip(first.split(", "), second.split(", "), strict=False))
    return sum(span_iou(day_span(left), day_span(right)) for left, right in pairs) / len(pairs)
