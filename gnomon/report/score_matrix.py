"""Reads a job's rows, once, into matrices of groups and samples."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.row import Row
from gnomon.core.row_batch import RowBatch, distinct_codes, in_batches
from gnomon.core.score import Outcome
from gnomon.report.cluster_codes import cluster_codes
from gnomon.report.group_totals import GroupTotals, add_rows
from gnomon.report.pairs import ArmPair
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.unknown_replies import UnknownReplies, unknown_codes, unknown_replies
from gnomon.statistics.design import Codes, Design, Floats, Headline, design, strata_of

Group = tuple[str, str]  # model, arm
ANSWER_CHARS = 120
RIGHT = 0.5
"""A score counts as right from here on."""
KEPT_DESIGNS = 4  # of all samples, or as much in designs of fewer


def are_right(means: Floats, answered: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which samples are right: of several repeats, in more than half of them; never where none was answered.

    >>> are_right(np.array([0.5, 0.5, np.nan]), np.array([1, 2, 0])).tolist()
    [True, False, False]
    """
    return np.where(answered > 1, means > RIGHT, means >= RIGHT)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleScores:
    """What a paired comparison reads: scores of groups × samples, baseline before variant."""

    cells: Codes  # by sample
    clusters: Codes  # by sample
    score_sums: Floats
    answered: NDArray[np.integer]  # trials with a score
    missing: NDArray[np.integer]  # trials that ended as infra_missing
    unknown: UnknownReplies | None = None  # None: there is none
    crossing: Codes | None = None  # by sample: the cluster by a second factor, where there is one
    _designs: dict[tuple[Headline, bytes], Design] = field(default_factory=dict, init=False, repr=False)

    def groups_of(self, pair: ArmPair) -> tuple[int, int]:  # noqa: ARG002 (there is one pair)
        """The places of the pair's baseline and variant among the groups."""
        return 0, 1

    def means(self, group: int, *, unknown_as: float | None = None, lost_as: float | None = None) -> Floats:
        """The group's mean score by sample; NaN where nothing was answered.

        Unknown replies count as they were scored, or as `unknown_as`. Lost trials are left out, or count as
        `lost_as`; a sample that was never begun is then one lost trial.
        """
        counts, sums = self.answered[group], self.score_sums[group]
        if unknown_as is not None and self.unknown is not None:
            sums = sums - self.unknown.score_sums[group] + unknown_as * self.unknown.counts[group]
        if lost_as is not None:
            lost = self.lost(group)
            counts, sums = counts + lost, sums + lost_as * lost
        means: Floats = np.full(len(counts), np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    def lost(self, group: int) -> NDArray[np.integer]:
        """By sample, how many of the group's trials have no score: at least one where none has."""
        lost: NDArray[np.integer] = np.maximum(self.missing[group], self.answered[group] == 0)
        return lost

    def right(self, group: int) -> NDArray[np.bool_]:
        """By sample, whether it is right; not where nothing was answered."""
        return are_right(self.means(group), self.answered[group])

    def design(self, within: NDArray[np.bool_], headline: Headline) -> Design:
        """The design of these samples; most pairs of arms have the same ones, and share it.

        Raises:
            ValueError: there are no samples.
        """
        key = _design_key(headline, within)
        if key not in self._designs:
            if sum(kept.n for kept in self._designs.values()) > KEPT_DESIGNS * len(self.cells):
                self._designs.clear()
            second = None if self.crossing is None else self.crossing[within]
            strata = strata_of(self.cells[within], headline)
            self._designs[key] = design(strata, self.clusters[within], second)
        return self._designs[key]

    def keep_design(self, headline: Headline, whole: Design) -> None:
        """Keep the design of all samples, where it is known."""
        self._designs[_design_key(headline, self.everywhere())] = whole

    def everywhere(self) -> NDArray[np.bool_]:
        return np.ones(len(self.cells), dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JobScores(SampleScores):
    """The scores of all groups of a job."""

    at: Mapping[Group, int]  # a group's place among them

    def groups_of(self, pair: ArmPair) -> tuple[int, int]:
        return self.at[pair.model, pair.baseline], self.at[pair.model, pair.variant]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreMatrix(JobScores):
    """Rows as matrices of groups × samples; a sample's score in a group is the mean of its repeats."""

    groups: tuple[Group, ...]
    samples: tuple[str, ...]  # sorted
    cell_names: tuple[str, ...]  # sorted; `cells` are places in it
    called: NDArray[np.bool_]  # whether a trial with a score called a tool
    calls_known: NDArray[np.bool_]  # whether all trials with a score tell that
    totals: tuple[GroupTotals, ...]  # by group
    shown: NDArray[np.int32]  # by group and sample the place of its repeat 0 in what follows; −1: none
    answers: Sequence[str | None]  # of repeats 0
    trials: Sequence[str]  # of repeats 0: their ids
    places: NDArray[np.int32]  # by scored row: group · samples + sample
    repeats: NDArray[np.int32]  # by scored row
    row_scores: Floats  # by scored row

    def totals_of(self, model: str) -> list[GroupTotals]:
        return [totals for (name, _), totals in zip(self.groups, self.totals, strict=True) if name == model]

    def variances(self, group: int) -> Floats:
        """The unbiased variance between a sample's repeats; NaN of fewer than two."""
        n, sums = self.answered[group], self.score_sums[group]
        rows, samples = self.rows_of(group)
        squares = sums_by_place(samples, self.row_scores[rows] ** 2, len(n))
        variances: Floats = np.full(len(n), np.nan)
        np.divide(squares - sums**2 / np.maximum(n, 1), n - 1, out=variances, where=n > 1)
        return np.maximum(variances, 0.0)

    def rights(self, group: int) -> Floats:
        """How many of the group's trials have a score of at least 0.5, by sample."""
        rows, samples = self.rows_of(group)
        is_right = self.row_scores[rows] >= RIGHT
        return np.bincount(samples[is_right], minlength=len(self.samples)).astype(np.float64)

    def by_repeat(self, group: int) -> Floats:
        """The group's scores, samples × repeats; NaN where there is none."""
        rows, samples = self.rows_of(group)
        scores: Floats = np.full((len(self.samples), int(self.repeats.max(initial=0)) + 1), np.nan)
        scores[samples, self.repeats[rows]] = self.row_scores[rows]
        return scores

    def rows_of(self, group: int) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        size = len(self.samples)
        rows = (self.places >= group * size) & (self.places < (group + 1) * size)
        return rows, self.places[rows] - group * size

    def trial(self, group: int, sample: int) -> str | None:
        """The id of repeat 0."""
        place = int(self.shown[group, sample])
        return None if place < 0 else self.trials[place]

    def answer(self, group: int, sample: int) -> str | None:
        """The answer of repeat 0, shortened."""
        place = int(self.shown[group, sample])
        answer = None if place < 0 else self.answers[place]
        return None if answer is None else escape_surrogates(answer)


BY_ROW = {  # columns, and the type of array of each
    "group": "i",
    "sample": "i",
    "repeat": "i",
    "score": "d",
    "state": "b",  # code of an unknown reply
    "tool_calls": "d",
    "usd": "d",
    "wall_s": "d",
}


class _Columns:
    """Rows while they are read: groups, samples, cells and clusters as numbers, everything in arrays."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = {group: number for number, group in enumerate(groups)}
        self.totals = [GroupTotals() for _ in groups]
        self.samples: dict[str, int] = {}
        self.cells: dict[str, int] = {}
        self.clusters: dict[str, int] = {}  # "" is no cluster
        self.answers: list[str | None] = []
        self.trials: list[str] = []
        self._by_row = {name: [np.empty(0, kind)] for name, kind in BY_ROW.items()}
        self._by_sample: dict[str, list[int]] = {"cell": [], "cluster": []}
        self._called: dict[str, list[NDArray[np.int64]]] = defaultdict(list)  # by tool: group and sample

    def read(self, batches: Iterable[RowBatch]) -> None:
        for batch in batches:
            alike = batch.distinct("model", "arm")
            numbers = numbers_of(self.groups, alike.values)
            self.totals += [GroupTotals() for _ in range(len(self.groups) - len(self.totals))]
            groups, samples = numbers[alike.codes], self._samples_of(batch)
            add_rows(self.totals, batch, groups)
            self._note_tools(batch, groups, samples)
            states = batch.distinct("reply_state")
            columns: dict[str, NDArray[Any]] = {
                "group": groups,
                "sample": samples,
                "score": scores_of(batch),
                "state": unknown_codes(states.values)[states.codes],
            }
            for name, parts in self._by_row.items():
                column = columns[name] if name in columns else batch.numbers(name)
                parts.append(column.astype(BY_ROW[name]))
            self._note_texts(batch)

    def by_row(self, name: str) -> NDArray[Any]:
        """A column; it can be had once."""
        return np.concatenate(self._by_row.pop(name))

    def by_sample(self, name: str) -> Codes:
        """A column of samples, in the order in which they first came."""
        return np.array(self._by_sample[name], np.intp)

    def add_up(self, name: str, groups: Codes) -> None:
        """Tell each group the exact sum of what is known of a column."""
        column = self.by_row(name)
        for group, totals in enumerate(self.totals):
            of_group = column[groups == group]
            setattr(totals, name, math.fsum(of_group[~np.isnan(of_group)].tolist()))

    def note_called(self, rank: Codes) -> None:
        """Say on which samples tools were called, by rank of their ids."""
        for name, parts in self._called.items():
            of, samples = np.divmod(np.concatenate(parts), 1 << 32)
            has_called = np.zeros((len(self.groups), len(rank)), np.bool_)
            has_called[of, rank[samples]] = True
            for group in np.flatnonzero(has_called.any(axis=1)).tolist():
                self.totals[group].tools[name].samples = np.flatnonzero(has_called[group])

    def _samples_of(self, batch: RowBatch) -> Codes:
        """By row, the number of its sample; a new sample has the cell and the cluster of its first row."""
        alike, before = batch.distinct("sample_id"), len(self.samples)
        numbers = numbers_of(self.samples, alike.values)
        firsts = alike.firsts[numbers >= before]
        for name, numbered in (("cell", self.cells), ("cluster", self.clusters)):
            column = batch.distinct(name)
            names = [column.values[code] for code in column.codes[firsts].tolist()]
            self._by_sample[name] += numbers_of(numbered, names).tolist()
        return numbers[alike.codes]

    def _note_tools(self, batch: RowBatch, groups: Codes, samples: Codes) -> None:
        used = batch.distinct("tools_used")
        pairs, firsts = distinct_codes(groups, batch.distinct("sample_id").codes)
        for name in dict.fromkeys(name for tools in used.values for name in tools):
            has_called = np.zeros(len(firsts), np.bool_)
            has_called[pairs[used.places(lambda tools, name=name: name in tools)]] = True
            rows = firsts[has_called]
            self._called[name].append((groups[rows] << 32) + samples[rows])

    def _note_texts(self, batch: RowBatch) -> None:
        is_first = batch.numbers("repeat") == 0
        self.trials.extend(compress(batch.columns["trial_id"], is_first.tolist()))
        answers = compress(batch.columns["answer"], is_first.tolist())
        self.answers.extend(None if answer is None else answer[:ANSWER_CHARS] for answer in answers)


def scores_of(batch: RowBatch) -> Floats:
    """The rows' scores; NaN of a trial that is missing."""
    scores = batch.numbers("score").copy()
    scores[batch.distinct("outcome").places(lambda outcome: outcome == Outcome.INFRA_MISSING)] = np.nan
    return scores


def read_scores(
    rows: Iterable[Row] | Iterable[RowBatch], groups: Sequence[Group], *, clustered: bool = True
) -> ScoreMatrix:
    """Read rows once. `groups` come first, in this order; a group only found in rows follows.

    Without `clustered`, and where a row names no cluster, each sample is a cluster of its own.
    A trial without a score counts as missing. The order of the rows changes nothing, not even the last digit.
    """
    columns = _Columns(groups)
    columns.read(in_batches(rows))
    samples, rank = _ranks(columns.samples)
    order, shape = np.argsort(rank), (len(columns.groups), len(samples))
    cell_names, cells = _ranks(columns.cells)
    clusters, crossing = np.arange(len(order)), None
    if clustered:
        clusters, crossing = cluster_codes(tuple(columns.clusters), columns.by_sample("cluster")[order])
    columns.samples.clear()
    group_codes, repeats = columns.by_row("group"), columns.by_row("repeat")
    at = group_codes * np.int32(shape[1]) + rank[columns.by_row("sample")].astype(np.int32)
    shown = np.full(shape, -1, np.int32)
    is_first = repeats == 0
    shown.flat[at[is_first]] = np.arange(np.count_nonzero(is_first))
    columns.note_called(rank)
    scores = columns.by_row("score")
    scored = np.isfinite(scores)
    missing = matrix_of(at[~scored], shape)
    states = columns.by_row("state")[scored]
    at, repeats, scores = at[scored], repeats[scored], scores[scored]
    answered = matrix_of(at, shape)
    calls = columns.by_row("tool_calls")[scored]
    for name in ("usd", "wall_s"):
        columns.add_up(name, group_codes)
    return ScoreMatrix(
        groups=tuple(columns.groups),
        at=columns.groups,
        samples=samples,
        cell_names=cell_names,
        cells=cells[columns.by_sample("cell")[order]],
        clusters=clusters,
        crossing=crossing,
        score_sums=matrix_of(at, shape, scores),
        answered=answered,
        missing=missing,
        unknown=unknown_replies(states, at, scores, shape),
        called=matrix_of(at[calls > 0], shape) > 0,
        calls_known=matrix_of(at[np.isnan(calls)], shape) == 0,
        totals=tuple(columns.totals),
        shown=shown,
        answers=columns.answers,
        trials=columns.trials,
        places=at,
        repeats=repeats,
        row_scores=scores,
    )


def matrix_of(at: NDArray[np.integer], shape: tuple[int, int], values: Floats | None = None) -> NDArray[Any]:
    """How often each place occurs, or the sum of its values, smallest first: the order of rows is nothing."""
    size = shape[0] * shape[1]
    if values is None:
        return np.bincount(at, minlength=size).astype(np.int32).reshape(shape)
    return sums_by_place(at, values, size).reshape(shape)


def sums_by_place(places: NDArray[np.integer], values: Floats, size: int) -> Floats:
    """The sum of the values at each of `size` places, smallest first."""
    order = np.argsort(values)  # of all: then those of each place are in order too
    return np.bincount(places[order], values[order], minlength=size).astype(np.float64, copy=False)


def numbers_of(numbered: dict[Any, int], values: Sequence[Any]) -> Codes:
    """The numbers of these values; a new one gets the next number."""
    for value in values:
        if value not in numbered:
            numbered[value] = len(numbered)
    return np.fromiter(map(numbered.__getitem__, values), np.intp, len(values))


def _design_key(headline: Headline, within: NDArray[np.bool_]) -> tuple[Headline, bytes]:
    return headline, np.packbits(within).tobytes()


def _ranks(names: Iterable[str]) -> tuple[tuple[str, ...], Codes]:
    """Distinct names sorted, and the place of each name among them."""
    names = list(names)
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names), np.intp)
    ranks[order] = np.arange(len(names))
    return tuple(map(names.__getitem__, order)), ranks
