"""Sets the token budget of arms without tools to what tools used in a finished job."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gnomon.core.arm import Arm
from gnomon.core.errors import NotFound, SpecError
from gnomon.spec.job_spec import JobSpec
from service.settings import Settings

if TYPE_CHECKING:
    from workers.store.records import JobRecord
    from workers.store.store import Store

PRESET, FROM, ARM = "matched_compute", "tokens_from", "tokens_arm"


def resolve_token_budget(spec: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The spec, with `tokens` filled in if its preset names a stored job in `tokens_from`.

    The tokens of a trial, prompt and completion, are averaged over the trials of that job's arm with tools
    (`tokens_arm`, where there are several), for the spec's one model. Where they come from is noted in the
    analysis plan.

    Raises:
        SpecError: the job or arm does not exist, has another benchmark or model or has not ended, or its
            provider counted no tokens.
    """
    options = spec.get("arms")
    if not isinstance(options, Mapping) or options.get("preset") != PRESET or FROM not in options:
        return dict(spec)
    if "tokens" in options:
        raise _fault(f"give either tokens or {FROM}, not both")
    from workers.store.store import open_store  # late: few specs need the store

    store = open_store(settings.database_url)
    try:
        job = _job(store, options[FROM], benchmark=spec.get("benchmark"))
        arm = _arm(job.spec, options.get(ARM))
        model = _model(job.spec, spec.get("models"))
        counts = [
            row.prompt_tokens + row.completion_tokens
            for row in store.iter_rows(job.id)
            if (row.model, row.arm) == (model, arm.name)
            and row.score is not None
            and row.prompt_tokens is not None
            and row.completion_tokens is not None
        ]
    finally:
        store.close()
    if not counts or not sum(counts):
        raise _fault(f"no trial of {model} under {arm.name} in {job.id} has counted tokens")
    tokens = round(sum(counts) / len(counts))
    note = f"{tokens:,} tokens per trial: the mean of {len(counts):,} trials under {arm.name} in {job.id}"
    kept = {name: value for name, value in options.items() if name not in (FROM, ARM)}
    return {**spec, "arms": {**kept, "tokens": tokens}, "analysis": _noted(spec.get("analysis"), note)}


def _job(store: "Store", job_id: object, *, benchmark: object) -> "JobRecord":
    from workers.store.job_counters import OPEN  # late, as above

    try:
        job = store.job(str(job_id))
    except NotFound as error:
        raise _fault(error.message) from None
    if job.spec.benchmark != benchmark:
        raise _fault(f"{job.id} is of {job.spec.benchmark}, this spec of {benchmark}")
    if job.status in OPEN:
        raise _fault(f"{job.id} is still {job.status}")
    return job


def _arm(spec: JobSpec, name: object) -> Arm:
    arms = {arm.name: arm for arm in (entry.arm() for entry in spec.arms) if arm.tools}
    live = [arm for arm in arms.values() if _is_live(arm)]
    if name is None and len(live) == 1:
        return live[0]
    if str(name) not in arms:
        raise _fault(f"name the arm whose tokens count: {', '.join(arms) or 'none has tools'}", field=ARM)
    return arms[str(name)]


def _is_live(arm: Arm) -> bool:
    return arm.tool_choice != "none" and arm.results == "live" and arm.faults is None


def _model(spec: JobSpec, models: object) -> str:
    """The label of the one model that both jobs have."""
    labels = [model.label for model in spec.models]
    entries = models if isinstance(models, list) else []
    names = [entry.get("name") or entry.get("id") for entry in entries if isinstance(entry, Mapping)]
    if len(names) != 1:
        raise _fault(
            f"a budget is that of one model; this spec has {len(names)} models: write one spec for each"
        )
    if names[0] not in labels:
        raise _fault(f"the job has no model {names[0]!r}; it has: {', '.join(labels)}")
    return str(names[0])


def _noted(analysis: object, note: str) -> object:
    if analysis is None:
        return {"notes": [note]}
    if not isinstance(analysis, Mapping) or not isinstance(analysis.get("notes", []), list):
        return analysis  # the spec's own check says what is wrong
    return {**analysis, "notes": [*analysis.get("notes", []), note]}


def _fault(message: str, *, field: str = FROM) -> SpecError:
    return SpecError(message, field=f"arms.{field}")
