"""Reads a job's rows, once, into matrices of groups and samples."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.report.group_totals import GroupTotals
from gnomon.report.pairs import ArmPair
from gnomon.report.row_formats import escape_surrogates
from gnomon.statistics.design import Codes, Floats

Group = tuple[str, str]  # model, arm
ANSWER_CHARS = 120
RIGHT = 0.5  # a score counts as right from here on


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleScores:
    """What a paired comparison reads: scores of groups × samples, baseline before variant."""

    cells: Codes  # by sample
    clusters: Codes  # by sample
    score_sums: Floats
    answered: NDArray[np.intp]  # trials with a score
    missing: NDArray[np.intp]  # trials that ended as infra_missing

    def groups_of(self, pair: ArmPair) -> tuple[int, int]:  # noqa: ARG002 (there is one pair)
        """The places of the pair's baseline and variant among the groups."""
        return 0, 1

    def means(self, group: int) -> Floats:
        """The group's mean score by sample; NaN where nothing was answered."""
        counts = self.answered[group]
        means: Floats = np.full(len(counts), np.nan)
        np.divide(self.score_sums[group], counts, out=means, where=counts > 0)
        return means

    def everywhere(self) -> NDArray[np.bool_]:
        """The mask of all samples."""
        return np.ones(len(self.cells), dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JobScores(SampleScores):
    """The scores of all groups of a job."""

    at: Mapping[Group, int]  # a group's place among them

    def groups_of(self, pair: ArmPair) -> tuple[int, int]:
        """The places of the pair's baseline and variant among the groups."""
        return self.at[pair.model, pair.baseline], self.at[pair.model, pair.variant]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreMatrix(JobScores):
    """Rows as matrices of groups × samples; a sample's score in a group is the mean of its repeats."""

    groups: tuple[Group, ...]
    samples: tuple[str, ...]
    cell_names: tuple[str, ...]  # sorted; `cells` are places in it
    score_squares: Floats  # sums of squared scores
    rights: Floats  # trials with a score of at least 0.5
    tool_calls: Floats  # of trials with a score, summed; NaN: unknown
    usd: Floats  # of trials with a score, their mean; NaN where one of them is unknown
    wall_s: Floats  # the same of seconds
    totals: tuple[GroupTotals, ...]  # by group
    shown: Codes  # the row of repeat 0 by group and sample; −1 where there is none
    answers: Sequence[str | None]  # by row, shortened; None of later repeats
    trials: Sequence[str | None]  # by row: its id; None of later repeats
    places: Codes  # by scored row: group · samples + sample
    repeats: Codes  # by scored row
    row_scores: Floats  # by scored row

    def totals_of(self, model: str) -> list[GroupTotals]:
        """The totals of the model's groups."""
        return [totals for (name, _), totals in zip(self.groups, self.totals, strict=True) if name == model]

    def variances(self, group: int) -> Floats:
        """The unbiased variance between a sample's repeats; NaN of fewer than two."""
        n, sums = self.answered[group], self.score_sums[group]
        variances: Floats = np.full(len(n), np.nan)
        np.divide(self.score_squares[group] - sums**2 / np.maximum(n, 1), n - 1, out=variances, where=n > 1)
        return np.maximum(variances, 0.0)

    def by_repeat(self, group: int) -> Floats:
        """The group's scores, samples × repeats; NaN where there is none."""
        size = len(self.samples)
        of_group = (self.places >= group * size) & (self.places < (group + 1) * size)
        scores: Floats = np.full((size, int(self.repeats.max(initial=0)) + 1), np.nan)
        scores[self.places[of_group] - group * size, self.repeats[of_group]] = self.row_scores[of_group]
        return scores

    def trial(self, group: int, sample: int) -> str | None:
        """The id of repeat 0."""
        row = int(self.shown[group, sample])
        return None if row < 0 else self.trials[row]

    def answer(self, group: int, sample: int) -> str | None:
        """The answer of repeat 0, shortened."""
        row = int(self.shown[group, sample])
        return None if row < 0 else self.answers[row]


@dataclass(slots=True, kw_only=True)
class _Columns:
    """Rows while they are read: numbers are kept in arrays, so that a million rows fit into 0.3 GB."""

    groups: dict[Group, int]
    totals: list[GroupTotals]  # by group
    samples: dict[str, int] = field(default_factory=dict)
    cells: list[str] = field(default_factory=list)  # by sample
    clusters: list[str] = field(default_factory=list)  # by sample
    codes: "array[int]" = field(default_factory=lambda: array("i"))  # by row: group, sample, repeat
    figures: "array[float]" = field(default_factory=lambda: array("d"))  # score, tool calls, dollars, seconds
    answers: list[str | None] = field(default_factory=list)
    trials: list[str | None] = field(default_factory=list)

    def read(self, rows: Iterable[Row], *, clustered: bool) -> None:
        """Take in all rows."""
        groups, samples, names = self.groups, self.samples, dict[str, str]()
        for row in rows:
            group = groups.setdefault((row.model, row.arm), len(groups))
            if group == len(self.totals):
                self.totals.append(GroupTotals())
            sample = samples.setdefault(row.sample_id, len(samples))
            if sample == len(self.cells):
                cluster = _cluster(row) if clustered else row.sample_id
                self.cells.append(names.setdefault(row.cell, row.cell))
                self.clusters.append(names.setdefault(cluster, cluster))
            self.totals[group].add(row)
            self.codes.extend((group, sample, row.repeat))
            score = np.nan if row.score is None or row.outcome == Outcome.INFRA_MISSING else row.score
            usd = np.nan if row.usd is None else row.usd
            calls = np.nan if row.tool_calls is None else row.tool_calls
            self.figures.extend((score, calls, usd, row.wall_s))
            self.trials.append(None if row.repeat else row.trial_id)
            answer = None if row.repeat else row.answer
            self.answers.append(None if answer is None else escape_surrogates(answer[:ANSWER_CHARS]))


def read_scores(rows: Iterable[Row], groups: Sequence[Group], *, clustered: bool = True) -> ScoreMatrix:
    """Read rows once. `groups` come first, in this order; a group only found in rows follows.

    Without `clustered`, and where a row names no cluster, each sample is a cluster of its own.
    A trial without a score counts as missing. The order of the rows changes nothing, not even the last digit.
    """
    columns = _Columns(
        groups={group: index for index, group in enumerate(groups)}, totals=[GroupTotals() for _ in groups]
    )
    columns.read(rows, clustered=clustered)
    group_codes, sample_codes, repeats = np.asarray(columns.codes).reshape(-1, 3).T
    samples, rank = _codes(columns.samples)
    order = np.argsort(rank)
    cell_names, cells = _codes(columns.cells)
    shape = (len(columns.groups), len(samples))
    at = group_codes.astype(np.intp) * len(samples) + rank[sample_codes]
    shown = np.full(shape, -1)
    shown.flat[at[repeats == 0]] = np.flatnonzero(repeats == 0)
    figures = np.asarray(columns.figures).reshape(-1, 4)
    scored = np.isfinite(figures[:, 0])
    scores, calls, usd, wall_s = figures[scored].T
    places = at[scored]
    answered = _matrix(places, shape)
    counts = np.where(answered > 0, answered, np.nan)
    return ScoreMatrix(
        groups=tuple(columns.groups),
        at=columns.groups,
        samples=samples,
        cell_names=cell_names,
        cells=cells[order],
        clusters=_codes(columns.clusters)[1][order],
        score_sums=_matrix(places, shape, scores),
        score_squares=_matrix(places, shape, scores**2),
        rights=_matrix(places, shape, (scores >= RIGHT).astype(np.float64)),
        answered=answered,
        missing=_matrix(at[~scored], shape),
        tool_calls=_matrix(places, shape, calls),
        usd=_matrix(places, shape, usd) / counts,
        wall_s=_matrix(places, shape, wall_s) / counts,
        totals=tuple(columns.totals),
        shown=shown,
        answers=columns.answers,
        trials=columns.trials,
        places=places,
        repeats=repeats[scored].astype(np.intp),
        row_scores=scores,
    )


def _matrix(at: Codes, shape: tuple[int, int], values: Floats | None = None) -> NDArray[Any]:
    """How often each place occurs, or the sum of its values, smallest first: the order of rows is nothing."""
    if values is not None:
        order = np.lexsort((values, at))
        at, values = at[order], values[order]
    return np.bincount(at, values, minlength=shape[0] * shape[1]).reshape(shape)


def _cluster(row: Row) -> str:
    return f"cluster {row.cluster}" if row.cluster else f"sample {row.sample_id}"


def _codes(names: Iterable[str]) -> tuple[tuple[str, ...], Codes]:
    """The names that occur, sorted, and the place of each name among them."""
    names = list(names)
    distinct = sorted(set(names))
    index = {name: code for code, name in enumerate(distinct)}
    return tuple(distinct), np.array([index[name] for name in names], dtype=np.intp)
