"""The tokens that tools took in a stored job, as the budget of the preset `matched_compute`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.core.arm import Arm
from gnomon.core.errors import NotFound, SpecError

PRESET, FROM, ARM = "matched_compute", "tokens_from", "tokens_arm"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob:
    """What is needed of a stored job; its tokens are counted only once the rest is right.

    `token_counts` takes a model and an arm, and returns the tokens, prompt and completion, of each scored
    trial that counted them. `called` takes a model, an arm and a tool (None: any), and returns the ids of the
    samples on which it was called in each repeat.
    """

    id: str
    status: str
    is_open: bool
    benchmark: str
    models: tuple[str, ...]
    arms: tuple[Arm, ...]
    token_counts: Callable[[str, str], Sequence[int]]
    called: Callable[[str, str, str | None], Collection[str]]


def with_token_budget(written: Mapping[str, Any], stored_job: Callable[[str], StoredJob]) -> dict[str, Any]:
    """The spec with `tokens` where its preset names a stored job in `tokens_from`; else as it is.

    The tokens of a trial are averaged over the trials of that job's arm with tools (`tokens_arm`, where there
    are several), for the spec's one model. Where they come from is noted in the analysis plan.

    Raises:
        SpecError: the job or arm does not exist, is of another benchmark or model or is not yet ended, or its
            provider counted no tokens.
    """
    options = written.get("arms")
    if not isinstance(options, Mapping) or options.get("preset") != PRESET or FROM not in options:
        return dict(written)
    if "tokens" in options:
        raise _error(f"give either tokens or {FROM}, not both")
    job = _job(str(options[FROM]), stored_job, benchmark=written.get("benchmark"))
    arm = _arm(job, options.get(ARM))
    model = _model(job, written.get("models"))
    counts = job.token_counts(model, arm.name)
    if not sum(counts):
        raise _error(f"no trial of {model} under {arm.name} in {job.id} has counted tokens")
    tokens = round(sum(counts) / len(counts))
    note = f"{tokens:,} tokens per trial: the mean of {len(counts):,} trials under {arm.name} in {job.id}"
    others = {name: value for name, value in options.items() if name not in (FROM, ARM)}
    analysis = _noted(written.get("analysis"), note)
    return {**written, "arms": {**others, "tokens": tokens}, "analysis": analysis}


def _job(job_id: str, stored_job: Callable[[str], StoredJob], *, benchmark: object) -> StoredJob:
    try:
        if not job_id.isascii():  # a store may not even take such a text
            raise NotFound(f"no job {job_id!a}")
        job = stored_job(job_id)
    except NotFound as error:
        raise _error(error.message) from None
    if job.benchmark != benchmark:
        raise _error(f"{job.id} is of {job.benchmark}, this spec of {benchmark}")
    if job.is_open:
        raise _error(f"{job.id} is still {job.status}")
    return job


def _arm(job: StoredJob, name: object) -> Arm:
    arms = {arm.name: arm for arm in job.arms if arm.tools}
    live = [arm for arm in arms.values() if _is_live(arm)]
    if name is None and len(live) == 1:
        return live[0]
    if str(name) not in arms:
        raise _error(f"name the arm whose tokens count: {', '.join(arms) or 'none has tools'}", field=ARM)
    return arms[str(name)]


def _is_live(arm: Arm) -> bool:
    return arm.tool_choice != "none" and arm.results == "live" and arm.faults is None


def _model(job: StoredJob, models: object) -> str:
    """The label of the one model that both jobs have."""
    entries = models if isinstance(models, list) else []
    labels = [entry.get("name") or entry.get("id") for entry in entries if isinstance(entry, Mapping)]
    if len(labels) != 1:
        raise _error(
            f"one model takes one budget; this spec has {len(labels)} models: a job for each, please"
        )
    if labels[0] not in job.models:
        raise _error(f"the job has no model {labels[0]!r}; it has: {', '.join(job.models)}")
    return str(labels[0])


def _noted(analysis: object, note: str) -> object:
    if analysis is None:
        return {"notes": [note]}
    if not isinstance(analysis, Mapping) or not isinstance(analysis.get("notes", []), list):
        return analysis  # a later rule says what is wrong
    return {**analysis, "notes": [*analysis.get("notes", []), note]}


def _error(message: str, *, field: str = FROM) -> SpecError:
    return SpecError(message, field=f"arms.{field}")
