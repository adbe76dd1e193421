"""The rules of a spec with its samples, in the order in which they are tried (gnomon/spec/rules.py).

Before them the benchmark itself refuses data that are not as published.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gnomon.core.benchmark import NamesJudged, ReadsOwnFiles, SampleSet
from gnomon.core.clusters import words_on_factors
from gnomon.core.decoding import EVERY_TASK
from gnomon.core.errors import DataError, SpecError
from gnomon.core.near_equal import NearEqual, factor_faults, find_near_equal
from gnomon.core.sample import DataFault, SampleRef
from gnomon.core.sample_abilities import KnowsMedia, TellsQuestions
from gnomon.core.transforms import RefusesTransforms
from gnomon.spec.job_spec import JobSpec, shows_media
from gnomon.spec.margin_spec import MarginSpec
from gnomon.trials.trial_plan import cluster_of, count_trials
from gnomon_tools.core.plugin_code import contained
from gnomon_tools.servers.cassette import open_cassette

MAX_TRIALS = 10_000_000


def selection(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses a selection without samples."""
    if not samples.refs:
        of = f" of {', '.join(spec.select.scenes)}" if spec.select.scenes else ""
        raise SpecError(f"selects no sample{of}; widen tasks or scenes", field="select")


def decoded_tasks(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses decoding for a task that no selected sample has, where the tasks are those of the data."""
    if not spec.decoding or not isinstance(spec.plugin(), ReadsOwnFiles):
        return
    there_are = (EVERY_TASK, *sorted({ref.task for ref in samples.refs}))
    for name in spec.decoding:
        if name not in there_are:
            raise SpecError(f"no {name!r}; allowed: {', '.join(there_are)}", field="decoding")


def judged(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses questions that need a judge without one, and a judge that no question needs."""
    needing = samples.judged if isinstance(samples, NamesJudged) else ()
    if needing and spec.judge is None:
        message = (
            f"{len(needing):,} of {len(samples.refs):,} questions are scored by a judge, such as "
            f"{needing[0]!r}; name the model, such as {{id: openai/gpt-5}}"
        )
        raise SpecError(message, field="judge")
    if spec.judge is not None and not needing:
        raise SpecError(
            "no selected question has the scorer `judge`; leave it out, or name that", field="judge"
        )


def videos(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses arms that show videos of which none is there."""
    if isinstance(samples, KnowsMedia) and shows_media(spec) and samples.unshowable == len(samples.refs):
        message = (
            f"none of the {len(samples.refs):,} samples has its video; looked in {samples.sought}. Put the "
            "videos there, or say that none shall be shown: `show: []` in every arm"
        )
        raise DataError(message, field="data")


def can_stop_early(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses to stop early where so few clusters could not decide even if each changed altogether."""
    if not spec.analysis.sequential:
        return
    if words_on_factors(ref.cluster for ref in samples.refs):
        raise SpecError(
            "clusters of several factors cannot stop early; leave it out", field="analysis.sequential"
        )
    from gnomon.statistics.sequential import LEAST_CLUSTERS  # late: SciPy is slow to load

    clusters = len({cluster_of(spec, ref) for ref in samples.refs})
    if clusters < LEAST_CLUSTERS:
        message = f"{clusters} clusters can never decide: {LEAST_CLUSTERS} must change from wrong to right"
        raise SpecError(f"{message}; widen select, or leave it out", field="analysis.sequential")


def margins(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses a margin for a subset that no selected sample belongs to: it would count for nothing."""
    margin = spec.analysis.margin
    if not isinstance(margin, MarginSpec) or not margin.subsets:
        return
    cells = sorted({ref.cell for ref in samples.refs})
    for name in margin.subsets:
        if name not in cells:
            message = f"no subset {name!r} among the selected samples; allowed: {', '.join(cells)}"
            raise SpecError(message, field="analysis.margin")


def transformable(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses transforms that the data do not allow: new names beside a map that prints the old ones."""
    if not isinstance(samples, RefusesTransforms):
        return
    for at, arm in enumerate(spec.arms):
        reason = samples.cannot(arm.transform, arm.show) if arm.transform else ""
        if reason:
            raise SpecError(reason, field=f"arms.{at}.transform")


def cassettes(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses a cassette of other questions: no call could be answered."""
    for at, arm in enumerate(spec.arms):
        if arm.cassette is None or arm.cassette.replay is None:
            continue
        asked = {ref.sample_id for ref in samples.refs}  # here: most jobs, however large, replay nothing
        recorded = open_cassette(Path(arm.cassette.replay), arm.cassette.sha256).samples
        if recorded and not recorded & asked:
            message = (
                f"holds calls of other samples, such as {min(recorded)!r}, and none of the "
                f"{len(asked):,} that are asked, such as {min(asked)!r}"
            )
            raise SpecError(message, field=f"arms.{at}.cassette.replay")


def trial_count(spec: JobSpec, samples: SampleSet) -> None:
    """Refuses more trials (samples × models × arms × repeats) than a job may have."""
    trials = count_trials(spec, len(samples.refs))
    if trials > MAX_TRIALS:
        factors: Mapping[str, int] = {
            "select.limit": len(samples.refs),
            "repeats": max(spec.repeats_by_arm.values()),
            "models": len(spec.models),
            "arms": len(spec.arms),
        }
        message = f"makes {trials:,} trials; allowed: {MAX_TRIALS:,} a job"
        raise SpecError(message, field=max(factors, key=lambda name: factors[name]))


def joined_samples(
    spec: JobSpec, samples: SampleSet, refs: Sequence[SampleRef]
) -> tuple[Sequence[SampleRef], list[DataFault]]:
    """The samples of a job, near-equal questions in one cluster, and what is to say of its data.

    Raises:
        DataError: questions of the user's own ask the same and have different answers; names their ids.
    """
    near_equal = _near_equal_questions(spec, samples)
    joined = near_equal.joined(refs)
    return joined, [*samples.faults, *near_equal.faults(), *factor_faults(joined)]


def _near_equal_questions(spec: JobSpec, samples: SampleSet) -> NearEqual:
    """The near-equal questions among samples that tell what they ask; refuses own with several answers."""
    if not isinstance(samples, TellsQuestions):
        return NearEqual()
    with contained():
        found = find_near_equal(samples.asked())
    if found.contradictions and isinstance(spec.plugin(), ReadsOwnFiles):
        message = f"{found.contradicting()}. Correct or leave out one of each, or say what tells them apart"
        raise DataError(message, field="data")
    return found


OF_THE_SAMPLES: tuple[Callable[[JobSpec, SampleSet], None], ...] = (
    selection,
    decoded_tasks,
    judged,
    videos,
    can_stop_early,
    transformable,
    trial_count,
    cassettes,
    margins,
)
