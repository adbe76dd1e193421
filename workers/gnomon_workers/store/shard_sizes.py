"""Decides how large a job's shards are, and which trials run side by side."""

from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import count_trials

SHARD_MIN, SHARD_MAX = 256, 4096


def shard_size(spec: JobSpec, trials_planned: int) -> int:
    """How many trials make a shard: some rounds of a worker's concurrency, a fair share for several
    workers of a small job, and always whole groups of a sample's arms and models. Of a job that may stop
    early, one round: workers that go through it together do not run ahead of each other.

    >>> spec = {"benchmark": "worlds", "models": [{"id": "m"}], "arms": [{"name": "raw", "agent": "direct"}]}
    >>> [shard_size(JobSpec.model_validate(spec), n) for n in (1, 100, 1_000, 1_000_000)]
    [1, 50, 250, 512]
    """
    half, quarter = -(-trials_planned // 2), -(-trials_planned // 4)
    ceiling = min(SHARD_MAX, max(SHARD_MIN, 8 * spec.concurrency))
    size = max(1, min(ceiling, max(quarter, min(half, spec.concurrency))))
    if spec.analysis.sequential:
        size = min(size, spec.concurrency)
    return -(-size // group_size(spec)) * group_size(spec)


def group_size(spec: JobSpec) -> int:
    """Trials that belong side by side: all arms and models of one repeat of a sample, or of all its repeats
    where arms have more or fewer of them.
    """
    repeats = set(spec.repeats_by_arm.values())
    return count_trials(spec, 1) // (max(repeats) if len(repeats) == 1 else 1)
