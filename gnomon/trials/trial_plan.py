"""Expands a frozen spec into its trials."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gnomon.core.ids import stable_hash, stable_seed
from gnomon.core.sample import SampleRef
from gnomon.spec.job_spec import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One sample × model × arm × repeat. The id is a hash of those and the job: the same on every machine."""

    trial_id: str
    job_id: str
    ref: SampleRef
    model: str
    arm: str
    repeat: int

    @property
    def seed(self) -> int:
        """The same for all arms and models of a sample's repeat, so that only the arm differs."""
        return stable_seed(self.ref.sample_id, self.repeat)

    def identity(self) -> dict[str, Any]:
        """The columns of its row that say which trial it is, in the plan as in the result."""
        ref = self.ref
        return {
            "trial_id": self.trial_id,
            "job_id": self.job_id,
            "sample_id": ref.sample_id,
            "task": ref.task,
            "cell": ref.cell,
            "cluster": ref.cluster,
            "model": self.model,
            "arm": self.arm,
            "repeat": self.repeat,
        }


def trial_id(job_id: str, sample_id: str, model: str, arm: str, repeat: int) -> str:
    """The trial's name.

    >>> trial_id("j", "s", "m", "raw", 0) == trial_id("j", "s", "m", "raw", 0)
    True
    """
    return "t_" + stable_hash(job_id, sample_id, model, arm, repeat)


def expand_trials(job_id: str, spec: JobSpec, refs: Iterable[SampleRef]) -> Iterator[Trial]:
    """Every trial of the job, all arms of a sample side by side: a job that stops early stays paired.

    Of a job with `analysis.sequential` the clusters come whole, and in an order that chance has drawn.
    """
    refs = in_drawn_order(spec, refs) if spec.analysis.sequential else refs
    repeats = spec.repeats_by_arm
    by_repeat = [
        [(model.label, arm) for model in spec.models for arm, times in repeats.items() if repeat < times]
        for repeat in range(max(repeats.values()))
    ]
    for ref in refs:
        for repeat, groups in enumerate(by_repeat):
            for model, arm in groups:
                yield Trial(
                    trial_id=trial_id(job_id, ref.sample_id, model, arm, repeat),
                    job_id=job_id,
                    ref=ref,
                    model=model,
                    arm=arm,
                    repeat=repeat,
                )


def in_drawn_order(spec: JobSpec, refs: Iterable[SampleRef]) -> list[SampleRef]:
    """The samples by cluster, clusters in an order drawn by `select.seed`: the same however often drawn.

    A look at the job takes the first clusters of this order, so it must say nothing of their scores.
    """
    return sorted(refs, key=lambda ref: stable_hash(spec.select.seed, *cluster_of(spec, ref)))


def cluster_of(spec: JobSpec, ref: SampleRef) -> tuple[str, str]:
    """The name of what counts as independent: the sample's cluster, or the sample itself."""
    is_clustered = spec.analysis.cluster == "auto" and ref.cluster
    return ("cluster", ref.cluster) if is_clustered else ("sample", ref.sample_id)


def repeats_of_pair(first: int, second: int) -> int:
    """So many repeats of both arms blur their difference about as much as these do: the harmonic mean.

    >>> repeats_of_pair(3, 3), repeats_of_pair(6, 3), repeats_of_pair(5, 1)
    (3, 4, 1)
    """
    return 2 * first * second // (first + second)


def count_trials(spec: JobSpec, samples: int) -> int:
    """How many trials `expand_trials` will yield."""
    return samples * len(spec.models) * sum(spec.repeats_by_arm.values())
