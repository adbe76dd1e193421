"""Compares stored jobs with one of them, sample by sample, from their indexes of trials.

The numbers are those of `job_diff.diff_jobs`; here they come from arrays, so that a page may ask for them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.core.errors import SpecError
from gnomon.exchange.foreign import benchmark_called
from gnomon.exchange.imported_job import is_imported
from gnomon.report.adjustment import adjust
from gnomon.report.cluster_codes import cluster_codes
from gnomon.report.compared_pair import PairResult, compare_pair
from gnomon.report.comparing import contrast_report, rule_of
from gnomon.report.contrast import ContrastReport
from gnomon.report.detectable import detectable_in
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import Group, SampleScores
from gnomon.report.text_formats import count
from gnomon.report.trial_index.columns import Array
from gnomon.report.trial_index.index import TrialIndex
from gnomon.report.unknown_replies import UnknownReplies
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Codes, Floats, Headline, design, strata_of
from gnomon.statistics.mean import MeanScore, mean_score
from gnomon.trials.trial_plan import repeats_of_pair
from gnomon_analyses.comparing.changed_trials import NOISE
from gnomon_analyses.comparing.job_diff import paired_groups, reword_for_jobs, side_names
from gnomon_workers.store.records import JobRecord

# The fields of two specs that must be equal: else their scores mean different things.
SAME = {
    "benchmark": "they ask different benchmarks",
    "protocol": "their prompts follow different protocols",
    "scoring": "they are scored differently",
    "variant": "they are scored by different versions of the official scorer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedJob:
    """A job with the index of its trials."""

    job_id: str
    spec: JobSpec
    index: TrialIndex


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedScores(SampleScores):
    """Scores of a group of one job and one of another, over the samples that both jobs have."""

    samples: tuple[str, ...]

    def differences(self) -> Floats:
        """Second minus first, by sample; NaN where one has no score."""
        return self.means(1) - self.means(0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JobComparison:
    """One model and arm of a job against the same of the job that all are compared with."""

    job_id: str
    label: str
    groups: tuple[Group, Group]
    contrast: ContrastReport
    changed: int
    only_first: int
    only_second: int


def names_apart(jobs: Sequence[JobRecord]) -> dict[str, str]:
    """By id: a job's name where that tells it apart, else with its id."""
    names = [job.name for job in jobs]
    return {
        job.id: job.name if job.name and names.count(job.name) == 1 else f"{job.name} {job.id}".strip()
        for job in jobs
    }


def why_not(first: JobSpec, second: JobSpec) -> str:
    """Why two jobs cannot be paired, in words; empty where nothing in their specs is against it."""
    for field, words in SAME.items():
        values = [getattr(spec, field) for spec in (first, second)]
        is_known = not any(map(is_imported, (first, second))) or field == "benchmark"
        if is_known and values[0] != values[1]:
            return f"{words}: {values[0] or 'the default'} and {values[1] or 'the default'}"
    try:
        paired_groups(first, second)
    except SpecError as error:
        return error.message
    return ""


def compare_jobs(
    base: IndexedJob, others: Sequence[IndexedJob]
) -> tuple[list[JobComparison], dict[str, str]]:
    """What each of the others is against the base, and why some cannot be paired with it, by job.

    p is adjusted for all comparisons together (Holm).
    """
    results: list[tuple[IndexedJob, str, tuple[Group, Group], _Paired]] = []
    reasons: dict[str, str] = {}
    headline = benchmark_called(base.spec.benchmark).headline
    for other in others:
        reason = why_not(base.spec, other.spec)
        if not reason and base.index.place_of.keys().isdisjoint(other.index.sample_ids):
            reason = "they have no sample in common"
        if reason:
            reasons[other.job_id] = reason
            continue
        sides = side_names((base.spec.name, other.spec.name), (base.job_id, other.job_id))
        for label, groups in paired_groups(base.spec, other.spec).items():
            pair = ArmPair(model=label, baseline=sides[0], variant=sides[1], is_primary=True)
            results.append((other, label, groups, _paired(base, other, groups, pair, headline)))
    adjusted = adjust([paired.result for *_, paired in results], base.spec.analysis)
    looks = max(1, sum(of_pair.p is not None for of_pair in adjusted))
    compared: list[JobComparison] = []
    for (other, label, groups, paired), of_pair in zip(results, adjusted, strict=True):
        repeats = repeats_of_pair(base.spec.repeats_of(groups[0][1]), other.spec.repeats_of(groups[1][1]))
        rule = rule_of("primary", looks=looks)
        compute = partial(
            detectable_in, paired.result, rule, looks=looks, simulated=len(results), repeats=repeats
        )
        state = other.job_id, other.index.size, other.index.last_seq
        detectable = base.index.once(("detectable", *state, groups, looks, len(results)), compute)
        contrast = contrast_report(paired.result, adjusted=of_pair, detectable=detectable, interim=False)
        reword_for_jobs(contrast, changed=paired.changed, compared=contrast["n"])
        compared.append(
            JobComparison(
                job_id=other.job_id,
                label=label,
                groups=groups,
                contrast=contrast,
                changed=paired.changed,
                only_first=len(base.index.sample_ids) - paired.shared,
                only_second=len(other.index.sample_ids) - paired.shared,
            )
        )
    return compared, reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paired:
    """A pair over the samples that both jobs have: how many those are, and how many scores changed."""

    result: PairResult
    shared: int
    changed: int


def _paired(
    base: IndexedJob,
    other: IndexedJob,
    groups: tuple[Group, Group],
    pair: ArmPair,
    headline: Headline,
) -> _Paired:
    """Worked out once for as long as neither job gets other results."""

    def compute() -> _Paired:
        scores = paired_scores(base, other, groups)
        return _Paired(
            result=compare_pair(scores, pair, "all", scores.everywhere(), headline=headline),
            shared=len(scores.samples),
            changed=int(np.count_nonzero(np.abs(scores.differences()) > NOISE)),
        )

    state = other.job_id, other.index.size, other.index.last_seq
    return base.index.once(("paired", *state, groups, pair.key), compute)


def paired_scores(first: IndexedJob, second: IndexedJob, groups: tuple[Group, Group]) -> SharedScores:
    """Both groups' scores over the samples that the jobs share, sorted by their ids."""
    places = _shared(first.index, second.index)
    totals = [
        [_of_group(part, job.index, group)[at] for part in job.index.score_totals()]
        for job, group, at in zip((first, second), groups, places, strict=True)
    ]
    answered, missing, sums = (np.stack(parts) for parts in zip(*totals, strict=True))
    names = first.index.sample_ids
    clusters, crossing = _clusters(first, places[0])
    return SharedScores(
        samples=tuple(names[at] for at in places[0]),
        cells=_dense(first.index, "cell", places[0]),
        clusters=clusters,
        crossing=crossing,
        score_sums=sums,
        answered=answered,
        missing=missing,
        unknown=_side_by_side(
            [
                (job.index.unknown_totals(), _number(job.index, group), at)
                for job, group, at in zip((first, second), groups, places, strict=True)
            ]
        ),
    )


def _side_by_side(sides: Sequence[tuple[UnknownReplies | None, int, Array]]) -> UnknownReplies | None:
    """The number of a group of each side, over the samples at these places; None where no side has any."""
    states = dict.fromkeys(state for unknown, *_ in sides if unknown for state in unknown.by_state)
    if not states:
        return None

    def stacked(matrix_of: Callable[[UnknownReplies], Array | None]) -> Array:
        rows = []
        for unknown, group, places in sides:
            matrix = matrix_of(unknown) if unknown else None
            rows.append(np.zeros(len(places), np.intp) if matrix is None else matrix[group][places])
        return np.stack(rows)

    return UnknownReplies(
        by_state={
            state: stacked(lambda unknown, state=state: unknown.by_state.get(state)) for state in states
        },
        score_sums=stacked(lambda unknown: unknown.score_sums),
    )


def _shared(first: TrialIndex, second: TrialIndex) -> tuple[Array, Array]:
    """The places of the samples that both have, in either, sorted by their ids."""
    ids, place = first.sample_ids, second.place_of
    both = [at for at in first.sample_order.tolist() if ids[at] in place]
    return np.array(both, np.intp), np.array([place[ids[at]] for at in both], np.intp)


def _number(index: TrialIndex, group: Group) -> int:
    return index.models.index(group[0]) * len(index.arms) + index.arms.index(group[1])


def _of_group(part: Array, index: TrialIndex, group: Group) -> Array:
    values: Array = part[index.models.index(group[0]), index.arms.index(group[1])]
    return values


def _dense(index: TrialIndex, column: str, places: Array) -> Codes:
    """Codes from 0 without gaps, in the order of the values' names."""
    names = index.samples.column(column).cast(pa.string()).take(pa.array(places))
    codes: Codes = pc.rank(names, tiebreaker="dense").to_numpy().astype(np.intp) - 1
    return codes


def _clusters(job: IndexedJob, places: Array) -> tuple[Codes, Codes | None]:
    """Which samples are kin, by one factor or two; where none count, each is its own."""
    if job.spec.analysis.cluster != "auto":
        return np.arange(len(places)), None
    names = job.index.samples.column("cluster").cast(pa.string()).take(pa.array(places)).to_pylist()
    distinct = dict.fromkeys(names)
    at = {name: code for code, name in enumerate(distinct)}
    return cluster_codes(tuple(distinct), np.array([at[name] for name in names], dtype=np.intp))


def group_means(job: IndexedJob, *, unknown_as: float | None = None) -> Mapping[Group, MeanScore]:
    """The benchmark's headline mean of each model and arm of a job that has a score.

    Unknown replies count as they were scored, or as `unknown_as`.
    """
    key = "group means", job.spec.analysis.cluster, unknown_as
    return job.index.once(key, lambda: _group_means(job, unknown_as))


def _group_means(job: IndexedJob, unknown_as: float | None) -> Mapping[Group, MeanScore]:
    headline: Headline = benchmark_called(job.spec.benchmark).headline
    index = job.index
    every = index.sample_order
    cells, (clusters, crossing) = _dense(index, "cell", every), _clusters(job, every)
    answered, _, sums = index.score_totals()
    unknown = None if unknown_as is None else index.unknown_totals()
    means: dict[Group, MeanScore] = {}
    for m, model in enumerate(index.models):
        for a, arm in enumerate(index.arms):
            counts = answered[m, a][every]
            has_score = counts > 0
            if has_score.any():
                second = None if crossing is None else crossing[has_score]
                grouping = design(strata_of(cells[has_score], headline), clusters[has_score], second)
                scored = sums[m, a][every]
                if unknown is not None and unknown_as is not None:
                    group = _number(index, (model, arm))
                    scored = scored + (unknown_as * unknown.counts - unknown.score_sums)[group][every]
                means[model, arm] = mean_score(scored[has_score] / counts[has_score], grouping)
    return means


def overall(compared: Sequence[JobComparison], reasons: Mapping[str, str]) -> str:
    """The finding of all comparisons in one or two sentences."""
    if not compared:
        why = next(iter(reasons.values()), "there is no other job")
        return f"Nothing can be paired: {why}."
    if len(compared) == 1:
        return compared[0].contrast["verdict_text"]
    counts = {"helps": "better", "hurts": "worse", "no_effect": "equal", "undecided": "undecided"}
    words = [
        f"{sum(item.contrast['verdict'] == verdict for item in compared)} {word}"
        for verdict, word in counts.items()
        if any(item.contrast["verdict"] == verdict for item in compared)
    ]
    return f"Of {count(len(compared), 'comparison')}: {', '.join(words)}."
