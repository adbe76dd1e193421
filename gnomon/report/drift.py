"""Says which trials of two arms were run together: under one version of the model, and close in time.

A provider that drifts makes a difference between arms that ran one after another. So a claim must also hold
among the pairs that were run together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gnomon.core.row_batch import distinct_codes
from gnomon.report.adjustment import Adjusted, adjust
from gnomon.report.contrast import Verdict
from gnomon.report.pairs import ArmPair
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.score_matrix import SampleScores, ScoreMatrix
from gnomon.report.scored_rows import NO_TIME, ScoredRows
from gnomon.report.text_formats import capitalised, count
from gnomon.report.verdict import judge
from gnomon.statistics.design import dense
from gnomon.statistics.paired import Comparison
from gnomon.stopping import while_wanted

if TYPE_CHECKING:
    from gnomon.report.compared_pair import PairResult
    from gnomon.report.section import ReportInput

APART_MS = 60_000  # trials of a pair are apart if one began so much later than the other
APART_SHARE = 0.20  # and if so many of the two arms' trials began between them
MOST_APART = 0.05  # up to this share of pairs apart, nothing is asked of a claim
LEAST_TOGETHER = 0.25  # below this share of pairs together, nothing is claimed
BEYOND_CHANCE = 2.2  # standard deviations: versions that chance deals to the arms differ by less
ONE_JOB = "run both arms in one job, from its start"

Table = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRuns:
    """How the trials of two arms were run: pairs of the same sample and repeat that both have a score."""

    pair: ArmPair
    pairs: int
    timed: int  # pairs of which both times are recorded
    apart: int  # in time
    other_version: int  # answered by different versions, where the arms did not get the same mix of them
    together: int
    median_gap_s: float | None  # between the starts of the pairs apart in time; of all where none is
    versions: tuple[Mapping[str, int], Mapping[str, int]]  # trials of baseline and variant by version

    @property
    def is_doubtful(self) -> bool:
        """Whether so many pairs are apart that a claim must hold without them."""
        return self.pairs - self.together > MOST_APART * self.pairs

    @property
    def is_apart(self) -> bool:
        """Whether so few pairs were run together that nothing may be claimed."""
        return self.is_doubtful and self.together < LEAST_TOGETHER * self.pairs

    @property
    def causes(self) -> list[str]:
        """What sets the pairs apart, in words."""
        return list(self._causes()) if self.is_doubtful else []

    def _causes(self) -> Iterator[str]:
        if self.apart and self.apart >= self.other_version:
            yield f"the arms ran apart in time (median gap {gap_text(self.median_gap_s or 0.0)})"
        if self.other_version:
            baseline, variant = map(_most, self.versions)
            if baseline != variant:
                names = (
                    f"“{self.pair.variant}” was answered by {variant}, “{self.pair.baseline}” by {baseline}"
                )
                yield f"{names} ({self.other_version:,} of {count(self.pairs, 'pair')})"
            else:
                yield f"versions of the model differ in {self.other_version:,} of {count(self.pairs, 'pair')}"
        if self.apart and self.apart < self.other_version:
            yield f"{self.apart:,} of {count(self.pairs, 'pair')} ran apart in time"

    @property
    def why(self) -> str:
        """Why nothing may be claimed, or not from all pairs, and what to do about it."""
        return f"{' and '.join(self.causes)}: {self._mend}"

    @property
    def advice(self) -> str:
        """What to do about it, in a sentence."""
        return f"{capitalised(self._mend)}."

    @property
    def _mend(self) -> str:
        return f"{ONE_JOB}, under one version of the model" if self.other_version else ONE_JOB


def gap_text(seconds: float) -> str:
    """A stretch of time in its largest unit.

    >>> gap_text(95), gap_text(7_560), gap_text(40)
    ('1.6 min', '2.1 h', '40 s')
    """
    for unit, size in (("days", 172_800), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / (86_400 if unit == 'days' else size):.1f} {unit}"
    return f"{seconds:.0f} s"


def runs_of(scores: ScoreMatrix, rows: ScoredRows, pairs: Sequence[ArmPair]) -> list[PairRuns]:
    """How the trials of each pair of arms were run."""
    tables = _tables(scores, rows)
    return [_runs(scores, tables, pair)[0] for pair in while_wanted(pairs)]


def scores_together(scores: ScoreMatrix, rows: ScoredRows, pair: ArmPair) -> SampleScores:
    """The scores of the pairs that were run together; all else that has begun counts as missing."""
    tables, groups = _tables(scores, rows), list(scores.groups_of(pair))
    _, together = _runs(scores, tables, pair)
    answered = np.broadcast_to(together.sum(axis=1), (2, len(together)))
    return SampleScores(
        cells=scores.cells,
        clusters=scores.clusters,
        crossing=scores.crossing,
        score_sums=np.where(together, tables.scores[groups], 0.0).sum(axis=2),
        answered=answered,
        missing=(scores.answered + scores.missing)[groups] - answered,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTogether:
    """A comparison over the trials that were run together, where too many others were not."""

    runs: PairRuns
    comparison: Comparison | None  # None: no sample has such trials
    adjusted: Adjusted

    def doubts(self, verdict: Verdict) -> list[str]:
        """What forbids this verdict on all trials."""
        if self.runs.is_apart:
            return [self.runs.why]
        held: Verdict = "undecided"
        if self.comparison is not None:
            held, _ = judge(
                self.comparison,
                p_adjusted=self.adjusted.p,
                loss=None,
                margin=self.adjusted.limits.ends if self.adjusted.limits else (0.0, 0.0),
                equivalence_p=self.adjusted.equivalence_p_adjusted,
            )
        if verdict in ("undecided", held):
            return []
        together = f"{self.runs.together:,} of {count(self.runs.pairs, 'pair')}"
        return [f"it does not hold among the {together} that were run together, as {self.runs.why}"]


def run_together(
    report_input: "ReportInput", results: "Sequence[PairResult]", compare: "Callable[..., PairResult]"
) -> list[RunTogether | None]:
    """The comparisons over the trials that were run together, as `compare` makes them; None where nearly all
    were, and where no rows were read, as of scores that are compared once more.
    """
    if not report_input.collectors:
        return [None] * len(results)
    scores, rows, spec = report_input.scores, report_input.collected(ScoredRows), report_input.spec
    doubtful = {runs.pair.key: runs for runs in runs_of(scores, rows, report_input.pairs) if runs.is_doubtful}
    if not doubtful:
        return [None] * len(results)
    by_pair = {key: scores_together(scores, rows, runs.pair) for key, runs in doubtful.items()}
    within = {name: scores.cells == code for code, name in enumerate(scores.cell_names)}
    held = [
        replace(
            compare(
                by_pair[result.pair.key],
                result.pair,
                result.scope,
                scores.everywhere() if result.scope == "all" else within[result.scope],
                headline=report_input.benchmark.headline if result.scope == "all" else "mean_of_samples",
                plan=report_input.drawn_plan,
            ),
            repeats_all=result.repeats_all,
        )
        if result.pair.key in doubtful
        else result
        for result in while_wanted(results)
    ]
    return [
        RunTogether(runs=runs, comparison=result.comparison, adjusted=adjusted) if runs else None
        for result, adjusted in zip(held, adjust(held, spec.analysis), strict=True)
        for runs in [doubtful.get(result.pair.key)]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """Scores, starts and versions by group, sample and repeat; `names` are those of the versions."""

    scores: Table
    started: Table
    versions: Table
    names: Sequence[str]


def _tables(scores: ScoreMatrix, rows: ScoredRows) -> _Tables:
    repeats = dense(scores.repeats.astype(np.intp))
    repeats_n = int(repeats.max(initial=0)) + 1
    at = scores.places.astype(np.intp) * repeats_n + repeats
    shape = (len(scores.groups), len(scores.samples), repeats_n)
    names, versions = rows.versions

    def table(values: NDArray[Any], absent: float) -> Table:
        places = np.full(shape, absent, values.dtype)
        places.flat[at] = values
        return places

    return _Tables(
        scores=table(scores.row_scores, np.nan),
        started=table(rows.started, NO_TIME),
        versions=table(versions, 0),
        names=names,
    )


def _runs(scores: ScoreMatrix, tables: _Tables, pair: ArmPair) -> tuple[PairRuns, Table]:
    """How the trials were run, and by sample and repeat whether both arms' were run together."""
    groups = list(scores.groups_of(pair))
    both: Table = np.all(np.isfinite(tables.scores[groups]), axis=0)
    started = tables.started[groups]
    timed: Table = both & (started != NO_TIME).all(axis=0)
    apart = _apart(started, timed)
    differs = _other_version(tables.versions[groups], both, tables.names)
    together = both & ~apart & ~differs
    gaps = np.abs(started[1] - started[0])[apart if apart.any() else timed]
    runs = PairRuns(
        pair=pair,
        pairs=int(both.sum()),
        timed=int(timed.sum()),
        apart=int(apart.sum()),
        other_version=int(differs.sum()),
        together=int(together.sum()),
        median_gap_s=float(np.median(gaps)) / 1000 if len(gaps) else None,
        versions=(_counted(tables, groups[0]), _counted(tables, groups[1])),
    )
    return runs, together


def _apart(started: Table, timed: Table) -> Table:
    """Which pairs were run apart in time."""
    apart: Table = timed & (np.abs(started[1] - started[0]) > APART_MS)
    if not apart.any():
        return apart
    order = np.sort(started[started != NO_TIME])
    baseline, variant = (np.searchsorted(order, arm[apart]) for arm in started)
    apart[apart] = np.abs(variant - baseline) > APART_SHARE * len(order)
    return apart


def _other_version(versions: Table, both: Table, names: Sequence[str]) -> Table:
    """Which pairs different versions answered; none where chance may have dealt versions to the arms alike.

    A provider may serve several versions at once. That blurs no comparison as long as both arms get the same
    mix, so what counts is how many more trials of one arm than of the other a version has answered. A trial
    that several have answered counts for each in part.
    """
    both_told = both & (versions > 0).all(axis=0)
    none = np.zeros(both.shape, np.bool_)
    if not both_told.any() or versions[:, both_told].min() == versions[:, both_told].max():
        return none
    codes, firsts = distinct_codes(versions[0][both_told], versions[1][both_told])
    sizes = np.bincount(codes)
    parts = [[names[arm[both_told][first]].split(", ") for arm in versions] for first in firsts.tolist()]
    surplus, spread = defaultdict[str, float](float), defaultdict[str, float](float)
    for (baseline, variant), size in zip(parts, sizes.tolist(), strict=True):
        for name in {*baseline, *variant}:
            more = variant.count(name) / len(variant) - baseline.count(name) / len(baseline)
            surplus[name] += size * more
            spread[name] += size * more**2
    if not any(
        abs(more) > max(BEYOND_CHANCE * spread[name] ** 0.5, MOST_APART * len(codes))
        for name, more in surplus.items()
    ):
        return none
    differs = np.array([set(baseline).isdisjoint(variant) for baseline, variant in parts])
    none[both_told] = differs[codes]
    return none


def _counted(tables: _Tables, group: int) -> dict[str, int]:
    """How many scored trials of a group each version has answered."""
    counts = np.bincount(tables.versions[group].ravel(), minlength=len(tables.names))
    return {name: int(n) for name, n in zip(tables.names, counts, strict=True) if n and name}


def _most(counts: Mapping[str, int]) -> str:
    return escape_surrogates(max(counts, key=lambda name: counts[name]))
