"""Holds arms that replay a stored job to what that job is."""

from collections.abc import Callable

from gnomon.core.arm import differences
from gnomon.core.errors import NotFound, SpecError
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.token_budget import StoredJob


def check_replays(spec: JobSpec, stored_job: Callable[[str], StoredJob]) -> None:
    """Refuse arms that replay a job which is absent or still runs, or an arm that they are not like.

    Raises:
        SpecError: names the field and what is allowed.
    """
    for at, arm in enumerate(spec.arms):
        if arm.replay is None:
            continue
        try:
            job = stored_job(arm.replay.job)
        except NotFound as error:
            raise SpecError(error.message, field=f"arms.{at}.replay.job") from None
        if job.is_open:
            raise SpecError(f"{job.id} is {job.status}; wait for its end", field=f"arms.{at}.replay.job")
        if job.benchmark != spec.benchmark:
            message = f"{job.id} asked questions of {job.benchmark}, not of {spec.benchmark}"
            raise SpecError(message, field=f"arms.{at}.replay.job")
        replayed = {other.name: other for other in job.arms}.get(arm.replay.arm)
        if replayed is None:
            there_are = ", ".join(other.name for other in job.arms)
            raise SpecError(f"no arm {arm.replay.arm!r}; allowed: {there_are}", field=f"arms.{at}.replay.arm")
        differing = [name for name in differences(replayed, arm) if name != "replay"]
        if differing:
            message = f"differs from that of the replayed arm {replayed.name}; it must be the same"
            raise SpecError(message, field=f"arms.{at}.{differing[0]}")
        for model in spec.models:
            if model.label not in job.models:
                message = f"{job.id} has no model {model.label!r}; allowed: {', '.join(job.models)}"
                raise SpecError(message, field="models")
