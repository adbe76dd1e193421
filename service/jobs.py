"""Jobs: the one place where a spec that somebody wrote becomes a stored and queued job."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS, KnowsMedia
from gnomon.core.errors import DataError, SpecError
from gnomon.core.model import is_built_in
from gnomon.core.sample import LACKS_MEDIA, DataFault, SampleRef
from gnomon.spec.job_spec import JobSpec, parse_spec, shows_media
from gnomon.spec.model_ids import check_model_id
from gnomon.trials.trial_plan import count_trials
from service import data_paths as folders
from service.matched_compute import resolve_token_budget
from service.settings import Settings
from workers.budget.cost_bound import price_of
from workers.endpoints import check_endpoints
from workers.open_job import OpenJob, media_of, open_job

if TYPE_CHECKING:
    from redis import Redis

    from workers.store.records import JobRecord
    from workers.store.store import Store

MAX_TRIALS = 10_000_000
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A spec that may run, its data opened: which samples it holds and what is wrong with them."""

    spec: JobSpec
    refs: Sequence[SampleRef]
    faults: Sequence[DataFault]
    job: OpenJob

    @property
    def planned_trials(self) -> int:
        return count_trials(self.spec, len(self.refs))

    @property
    def warnings(self) -> list[str]:
        """What should be known before anything is spent: how many samples lack the media that arms show."""
        shows = shows_media(self.spec)
        return [fault.detail for fault in self.faults if shows and fault.kind == LACKS_MEDIA]

    def estimate(self) -> dict[str, Any]:
        """What the job may take. Dollars are 0 for built-in models and None, unknown, for all others."""
        spec = self.spec
        is_free = all(is_built_in(model.id) for model in spec.models)
        return {
            "samples": len(self.refs),
            "trials": self.planned_trials,
            "usd": 0.0 if is_free else None,
            "usd_limit": spec.limits.usd,
        }


def draft_from_cli(given: object, settings: Settings) -> Draft:
    """Check a spec from the command line; relative paths start where the user stands.

    Raises:
        SpecError, DataError: it may not run; the message names the field and what is allowed.
    """
    return _draft(given, settings, find=folders.for_command_line, is_trusted=True)


def draft_from_request(given: object, settings: Settings) -> Draft:
    """Check a spec that came over HTTP: data only from the media roots, models only as the operator allows.

    Raises:
        SpecError, DataError: it may not run; the message names the field and what is allowed.
    """
    # Without keys the API is bound to loopback, so whoever posts is a user of this machine.
    return _draft(given, settings, find=folders.from_request, is_trusted=not settings.api_keys)


def _draft(given: object, settings: Settings, *, find: folders.PathResolver, is_trusted: bool) -> Draft:
    spec = _validate(resolve_token_budget(given, settings) if isinstance(given, dict) else given)
    if spec.data is not None:
        path = find(spec.data, settings.media_roots, field="data")
        spec = spec.model_copy(update={"data": str(path)})
    check_endpoints(spec.models, settings.allowed_bases, is_trusted=is_trusted)
    for index, model in enumerate(spec.models):
        check_model_id(model.id, model.api_base, field=f"models.{index}.id")
    _check_prices(spec)
    return _open_samples(spec, settings)


def resume(job_id: str, *, store: "Store", redis: "Redis") -> "JobRecord":
    """Open a job again for what is missing, and queue that.

    Raises:
        NotFound: there is no such job.
        SpecError: it was run elsewhere, so nothing of it can be run here.
    """
    spec = store.job(job_id).spec
    agents = {arm.agent for arm in spec.arms}
    if spec.benchmark not in BENCHMARKS.names() or not agents <= set(AGENTS.names()):
        raise SpecError(f"{job_id} was run elsewhere; what it misses cannot be run here", field="JOB")
    return _queued(store.resume(job_id), store=store, redis=redis)


def submit(
    draft: Draft, *, store: "Store", redis: "Redis", idempotency_key: str | None = None
) -> "JobRecord":
    """Store the job, then queue its shards; the sweeper queues them later if the queue is away."""
    job = store.create_job(draft.spec, draft.refs, faults=draft.faults, idempotency_key=idempotency_key)
    return _queued(job, store=store, redis=redis)


def _queued(job: "JobRecord", *, store: "Store", redis: "Redis") -> "JobRecord":
    from redis import RedisError  # late, as the queue: most commands that draft a job run none

    from workers.queue import enqueue_shards

    try:
        enqueue_shards(redis, job, [shard for _, shard in store.unfinished_shards(job.id)])
    except RedisError as error:
        log.warning("job %s is stored, but the queue is away (%s); the sweeper will queue it", job.id, error)
    return job


def _validate(given: object) -> JobSpec:
    if not isinstance(given, dict):
        raise SpecError(f"a spec is a mapping of fields, not {type(given).__name__}", field="spec")
    spec = parse_spec(given, agents=AGENTS.names())
    try:
        text = json.dumps(spec.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, UnicodeEncodeError, RecursionError) as error:
        raise SpecError(f"holds what no JSON can hold: {error}", field="spec") from None
    if "\\u0000" in text:
        raise SpecError("holds a NUL character", field="spec")
    return spec


def _check_prices(spec: JobSpec) -> None:
    """A limit in dollars cannot be kept where nobody knows the price: unknown is not nothing."""
    for index, model in enumerate(spec.models):
        if spec.limits.usd is not None and price_of(model) is None and not is_built_in(model.id):
            message = f"limits.usd needs it, as no table tells that of {model.id!r}"
            allowed = "{input: …, output: …}, dollars for a million tokens; or limit tokens instead"
            raise SpecError(f"{message}; allowed: {allowed}", field=f"models.{index}.price")


def _open_samples(spec: JobSpec, settings: Settings) -> Draft:
    media = media_of(settings.data_dir)
    try:
        samples = spec.plugin().open(
            data=Path(spec.data) if spec.data else None,
            select=spec.select,
            protocol=spec.protocol,
            media=media,
        )
    except DataError as error:
        raise DataError(error.message, field=error.field or "data") from None
    if not samples.refs:
        of = f" of {', '.join(spec.select.scenes)}" if spec.select.scenes else ""
        raise SpecError(f"selects no sample{of}; widen tasks or scenes", field="select")
    if isinstance(samples, KnowsMedia) and shows_media(spec) and samples.unshowable == len(samples.refs):
        message = (
            f"none of the {len(samples.refs):,} samples has its video; looked in {samples.sought}. Put the "
            "videos there, or say that none shall be shown: `show: []` in every arm"
        )
        raise DataError(message, field="data")
    job = open_job(spec, samples, media)
    draft = Draft(spec=spec, refs=samples.refs, faults=samples.faults, job=job)
    if draft.planned_trials > MAX_TRIALS:
        factors = {
            "select.limit": len(draft.refs),
            "repeats": spec.repeats,
            "models": len(spec.models),
            "arms": len(spec.arms),
        }
        message = f"makes {draft.planned_trials:,} trials; allowed: {MAX_TRIALS:,} a job"
        raise SpecError(message, field=max(factors, key=lambda name: factors[name]))
    return draft
