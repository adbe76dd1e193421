"""A stored job as an analysis reads it: its spec, rows, traces and samples, and what its report compares."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gnomon.core.benchmark import Benchmark
from gnomon.core.clusters import cluster_names
from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.report.comparing import all_contrasts
from gnomon.report.contrast import ContrastReport
from gnomon.report.pairs import ArmPair, pairs
from gnomon.report.score_matrix import ScoreMatrix, read_scores
from gnomon.report.section import ReadTrace, ReportInput
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Design, Floats

ReadSample = Callable[[str], Sample | None]  # None where the job's data are gone


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredJob:
    """One job with its rows. `limit` is the most trials whose traces are read; None: all.

    `threshold` is the score from which on a trial counts as right, where only 0 and 1 will do.
    """

    job_id: str
    spec: JobSpec
    status: str
    rows: Sequence[Row]
    benchmark: Benchmark
    trace: ReadTrace
    sample: ReadSample
    limit: int | None = None
    threshold: float | None = None

    @property
    def models(self) -> list[str]:
        return [model.label for model in self.spec.models]

    @cached_property
    def scores(self) -> ScoreMatrix:
        return self.scores_of(self.rows)

    def scores_of(self, rows: Sequence[Row]) -> ScoreMatrix:
        """The scores of some of the rows, read as for the report."""
        groups = [(model.label, arm.name) for model in self.spec.models for arm in self.spec.arms]
        return read_scores(rows, groups, clustered=self.spec.analysis.cluster == "auto")

    @cached_property
    def cluster_names(self) -> tuple[str, ...]:
        """By code of a cluster in `scores`: its name, or that of the one sample that is a cluster.

        Of two factors it is the name by the first, which `scores.clusters` go by.
        """
        by_sample = {row.sample_id: row.cluster for row in self.rows}
        names = [""] * (int(self.scores.clusters.max(initial=-1)) + 1)
        for sample, code in zip(self.scores.samples, self.scores.clusters.tolist(), strict=True):
            clustered = self.spec.analysis.cluster == "auto" and by_sample[sample]
            names[code] = cluster_names(by_sample[sample])[0] if clustered else sample
        return tuple(names)

    @property
    def compared(self) -> list[ArmPair]:
        """The pairs that the verdict rests on; all pairs where the spec marks none.

        Raises:
            SpecError: the job compares no arms.
        """
        compared = self.compared_or_none
        if not compared:
            raise SpecError("it has one arm, so there is nothing to compare", field="JOB")
        return compared

    @property
    def compared_or_none(self) -> list[ArmPair]:
        """As `compared`; empty where the job compares no arms."""
        every = pairs(self.spec)
        return [pair for pair in every if pair.is_primary] or every

    def paired(self, pair: ArmPair) -> "PairedScores":
        """The scores of the samples that have one under both arms.

        Raises:
            SpecError: there are none.
        """
        scores = self.scores
        first, second = scores.groups_of(pair)
        both = (scores.answered[first] > 0) & (scores.answered[second] > 0)
        if not both.any():
            raise SpecError(f"no sample has a score under {pair.baseline} and {pair.variant}", field="JOB")
        return PairedScores(
            both=both,
            baseline=scores.means(first)[both],
            variant=scores.means(second)[both],
            grouping=scores.design(both, self.benchmark.headline),
        )

    def verdicts(self, scores: ScoreMatrix) -> list[ContrastReport]:
        """The verdict that the report would give each compared pair if it had only these scores."""
        merged = replace(scores, cell_names=()) if self.benchmark.headline == "mean_of_samples" else scores
        contrasts = all_contrasts(
            ReportInput(
                job_id=self.job_id,
                spec=self.spec,
                status=self.status,
                planned=len(self.rows),
                benchmark=self.benchmark,
                scores=merged,
                pairs=self.compared,
                collectors=(),
                faults=(),
                checks=(),
                trace=self.trace,
                error="",
                spec_hash="",
            )
        )
        return [contrast for contrast in contrasts if contrast["scope"] == "all"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedScores:
    """Both arms' scores of the samples that have one under both; `both` is the mask of these samples."""

    both: NDArray[np.bool_]
    baseline: Floats
    variant: Floats
    grouping: Design
