"""Ledger: a job's rows, read once into columns."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.outcome import Outcome
from gnomon.report.table import printable
from gnomon.row import Row
from gnomon.statistics.design import Codes, Floats

Group = tuple[str, str]  # model, arm
ANSWER_CHARS = 120
RIGHT = 0.5  # a score counts as right from here on


@dataclass(slots=True, kw_only=True)
class ToolTally:
    """How often a tool was called, and on which samples."""

    calls: int = 0
    bad_arguments: int = 0
    errors: int = 0
    samples: set[str] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts and sums over the rows of one group; unknown tokens and dollars are counted apart."""

    outcomes: Counter[str] = field(default_factory=Counter)
    stop_reasons: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # by outcome
    flags: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    prices: "array[float]" = field(default_factory=lambda: array("d"))
    times_s: "array[float]" = field(default_factory=lambda: array("d"))
    tools: dict[str, ToolTally] = field(default_factory=lambda: defaultdict(ToolTally))

    def add(self, row: Row) -> None:
        """Count one row."""
        self.outcomes[row.outcome] += 1
        self.stop_reasons[row.outcome][row.stop_reason] += 1
        if row.flags:
            self.flags.update(row.flags)
        known, unknown = self.known, self.unknown
        known["model_calls"] += row.model_calls
        known["tool_calls"] += row.tool_calls
        known["cache_hits"] += row.cache_hits
        for name, count in (
            ("prompt_tokens", row.prompt_tokens),
            ("completion_tokens", row.completion_tokens),
        ):
            if count is None:
                unknown[name] += 1
            else:
                known[name] += count
        if row.usd is None:
            unknown["usd"] += 1
        else:
            self.prices.append(row.usd)
        self.times_s.append(row.wall_s)
        for name, counts in row.tools_used.items():
            tool = self.tools[name]
            tool.calls += counts.get("calls", 0)
            tool.bad_arguments += counts.get("bad_arguments", 0)
            tool.errors += counts.get("errors", 0)
            tool.samples.add(row.sample_id)

    @property
    def usd(self) -> float:
        return math.fsum(self.prices)

    @property
    def wall_s(self) -> float:
        return math.fsum(self.times_s)

    @property
    def trials(self) -> int:
        return self.outcomes.total()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ledger:
    """Rows as matrices of groups × samples; a sample's score in a group is the mean of its repeats."""

    groups: tuple[Group, ...]
    samples: tuple[str, ...]
    cell_names: tuple[str, ...]  # sorted
    cells: Codes  # by sample: index into cell_names
    clusters: Codes  # by sample
    score_sums: Floats
    score_squares: Floats  # sums of squared scores
    rights: Floats  # trials with a score of at least 0.5
    answered: NDArray[np.intp]  # trials with a score
    missing: NDArray[np.intp]  # trials that ended as infra_missing
    tool_calls: Floats  # of trials with a score, summed
    usd: Floats  # of trials with a score, their mean; NaN where one of them is unknown
    wall_s: Floats  # the same of seconds
    tallies: tuple[Tally, ...]
    answers: dict[tuple[int, int], str]  # (group, sample) of repeat 0, shortened
    trials: dict[tuple[int, int], str]  # (group, sample): the id of repeat 0
    places: Codes  # by scored row: group · samples + sample
    repeats: Codes  # by scored row
    row_scores: Floats  # by scored row

    def scores(self, group: int) -> Floats:
        """The group's mean score by sample; NaN where nothing was answered."""
        counts = self.answered[group]
        means: Floats = np.full(len(counts), np.nan)
        np.divide(self.score_sums[group], counts, out=means, where=counts > 0)
        return means

    def variances(self, group: int) -> Floats:
        """The unbiased variance between a sample's repeats; NaN of fewer than two."""
        n, sums = self.answered[group], self.score_sums[group]
        found: Floats = np.full(len(n), np.nan)
        np.divide(self.score_squares[group] - sums**2 / np.maximum(n, 1), n - 1, out=found, where=n > 1)
        return np.maximum(found, 0.0)

    def by_repeat(self, group: int) -> Floats:
        """The group's scores, samples × repeats; NaN where there is none."""
        size = len(self.samples)
        mine = (self.places >= group * size) & (self.places < (group + 1) * size)
        scores: Floats = np.full((size, int(self.repeats.max(initial=0)) + 1), np.nan)
        scores[self.places[mine] - group * size, self.repeats[mine]] = self.row_scores[mine]
        return scores

    def everywhere(self) -> NDArray[np.bool_]:
        """The mask of all samples."""
        return np.ones(len(self.samples), dtype=np.bool_)


def read_ledger(rows: Iterable[Row], groups: Sequence[Group], *, clustered: bool = True) -> Ledger:
    """Read rows once. `groups` come first, in this order; a group only found in rows follows.

    Without `clustered`, and where a row names no cluster, each sample is a cluster of its own.
    A trial without a score counts as missing. The order of the rows changes nothing, not even the last digit.
    """
    group_at = {group: index for index, group in enumerate(groups)}
    sample_at: dict[str, int] = {}
    places: list[tuple[str, str]] = []  # by sample: cell, cluster
    tallies = [Tally() for _ in groups]
    answers: dict[tuple[int, int], str] = {}
    trials: dict[tuple[int, int], str] = {}
    group_codes: list[int] = []
    sample_codes: list[int] = []
    repeat_codes: list[int] = []
    figures: list[tuple[float, float, float, float]] = []  # score, tool calls, dollars, seconds
    for row in rows:
        group = group_at.setdefault((row.model, row.arm), len(group_at))
        if group == len(tallies):
            tallies.append(Tally())
        sample = sample_at.setdefault(row.sample_id, len(sample_at))
        if sample == len(places):
            places.append((row.cell, _cluster(row) if clustered else row.sample_id))
        tallies[group].add(row)
        group_codes.append(group)
        repeat_codes.append(row.repeat)
        sample_codes.append(sample)
        score = np.nan if row.score is None or row.outcome == Outcome.INFRA_MISSING else row.score
        usd = np.nan if row.usd is None else row.usd
        figures.append((score, row.tool_calls, usd, row.wall_s))
        if row.repeat == 0:
            trials[group, sample] = row.trial_id
            if row.answer is not None:
                answers[group, sample] = printable(row.answer[:ANSWER_CHARS])
    samples, rank = _codes(list(sample_at))
    places = [places[sample_at[sample]] for sample in samples]
    cell_names, cells = _codes([cell for cell, _ in places])
    shape = (len(group_at), len(places))
    at = np.array(group_codes, dtype=np.intp) * len(places) + rank[np.array(sample_codes, dtype=np.intp)]
    columns = np.array(figures, dtype=np.float64).reshape(len(figures), 4)
    found = np.isfinite(columns[:, 0])
    scores, calls, usd, wall_s = columns[found].T
    answered = _matrix(at[found], shape)
    counts = np.where(answered > 0, answered, np.nan)
    return Ledger(
        groups=tuple(group_at),
        samples=samples,
        cell_names=cell_names,
        cells=cells,
        clusters=_codes([cluster for _, cluster in places])[1],
        score_sums=_matrix(at[found], shape, scores),
        score_squares=_matrix(at[found], shape, scores**2),
        rights=_matrix(at[found], shape, (scores >= RIGHT).astype(np.float64)),
        answered=answered,
        missing=_matrix(at[~found], shape),
        tool_calls=_matrix(at[found], shape, calls),
        usd=_matrix(at[found], shape, usd) / counts,
        wall_s=_matrix(at[found], shape, wall_s) / counts,
        tallies=tuple(tallies),
        answers={(group, int(rank[sample])): answer for (group, sample), answer in answers.items()},
        places=at[found],
        repeats=np.array(repeat_codes, dtype=np.intp)[found],
        row_scores=scores,
        trials={(group, int(rank[sample])): trial for (group, sample), trial in trials.items()},
    )


def _matrix(at: Codes, shape: tuple[int, int], values: Floats | None = None) -> NDArray[Any]:
    """How often each place occurs, or the sum of its values, smallest first: the order of rows is nothing."""
    if values is not None:
        order = np.lexsort((values, at))
        at, values = at[order], values[order]
    return np.bincount(at, values, minlength=shape[0] * shape[1]).reshape(shape)


def _cluster(row: Row) -> str:
    return f"cluster {row.cluster}" if row.cluster else f"sample {row.sample_id}"


def _codes(names: list[str]) -> tuple[tuple[str, ...], Codes]:
    known = sorted(set(names))
    index = {name: code for code, name in enumerate(known)}
    return tuple(known), np.array([index[name] for name in names], dtype=np.intp)
