"""Checks specs, and stores and queues their jobs."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.clusters import coarsest
from gnomon.core.errors import SpecError
from gnomon.core.model import CALL_TIMEOUT_S
from gnomon.core.near_equal import ON_CLUSTERS
from gnomon.core.sample import LACKS_MEDIA, UNUSED_COLUMNS, DataFault, SampleRef
from gnomon.core.sample_abilities import WarnsOfSelection
from gnomon.spec.environment import notes_on_environment
from gnomon.spec.job_spec import JobSpec, shows_media
from gnomon.spec.pins import check_pins
from gnomon.spec.rules import Context, check_spec, open_samples
from gnomon.spec.sample_rules import joined_samples
from gnomon.spec.token_budget import StoredJob
from gnomon.stopping import check_wanted
from gnomon.trials.trial_plan import count_trials
from gnomon_service.settings import Settings
from gnomon_service.stored_job import stored_job
from gnomon_tools.servers.listing import Listing
from gnomon_tools.servers.server_spec import ToolServer
from gnomon_workers.open_job import OpenJob, media_of, open_job
from gnomon_workers.poster import NOBODY, Poster

if TYPE_CHECKING:
    from redis import Redis

    from gnomon_service.local_stack import LocalStack
    from gnomon_workers.store.records import JobRecord
    from gnomon_workers.store.store import Store

MOST_AT_ONCE = 10_000  # trials that are made while a job is posted; a second
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
        """Notes for before anything is spent: what the selection misses, which samples lack their media,
        which columns nothing reads, that nothing could be claimed, and where the environment sends the calls.
        """
        spec, selected = self.spec, self.job.samples.refs
        shows = shows_media(spec)
        return [
            *(selected.warnings if isinstance(selected, WarnsOfSelection) else ()),
            *(fault.detail for fault in self.faults if shows and fault.kind == LACKS_MEDIA),
            *(fault.detail for fault in self.faults if fault.kind in ON_CLUSTERS and not fault.sample_id),
            *(_unread(fault) for fault in self.faults if fault.kind == UNUSED_COLUMNS),
            *_in_one_cluster(spec, self.refs),
            *_longer_than_trials(spec),
            *notes_on_environment(spec.called_models.values()),
        ]


def _unread(fault: DataFault) -> str:
    how = "`columns: {OURS: THEIRS}` says what one is"
    return f"columns of the file that nothing reads: {fault.detail} ({how})"


def _in_one_cluster(spec: JobSpec, refs: Sequence[SampleRef]) -> Iterator[str]:
    """That no arm can be said to differ from another, where all samples are kin."""
    if len(spec.arms) > 1 < len(refs) and len(set(coarsest([ref.cluster for ref in refs]))) == 1:
        only = f"all {len(refs):,} samples lie in one cluster, so no difference can be claimed"
        yield f"{only}: take samples of others, or give rows that are independent a `cluster` each"


def _longer_than_trials(spec: JobSpec) -> Iterator[str]:
    """Models whose calls may take longer than a trial, as somebody set it."""
    most = spec.limits.trial_seconds
    for field, model in spec.called_models.items():
        if field != "judge" and model.call_seconds != CALL_TIMEOUT_S and model.call_seconds > most:
            seconds = f"{field}.call_seconds is {model.call_seconds:g}"
            yield f"{seconds}, but limits.trial_seconds ends a trial after {most:g}: raise that as well"


def draft_from_cli(spec: object, settings: Settings) -> Draft:
    """Check a spec from the command line; relative paths start in the current folder.

    Raises:
        SpecError, DataError: the spec or its data is invalid; names the field and what is allowed.
    """
    return _draft(spec, settings, is_request=False)


def draft_from_request(spec: object, settings: Settings) -> Draft:
    """Check a spec that came over HTTP: data only from the media roots, models only as the operator allows.

    Raises:
        SpecError, DataError: the spec or its data is invalid; names the field and what is allowed.
    """
    return _draft(spec, settings, is_request=True)


def _draft(written: object, settings: Settings, *, is_request: bool) -> Draft:
    media = media_of(settings.data_dir)
    context = Context(
        agents=AGENTS.names(),
        stored_job=partial(stored_job, settings),
        is_request=is_request,
        data_roots=settings.media_roots,
        media=media,
        endpoints=settings.allowed_bases,
        # Without keys the API is bound to loopback, so a request comes from a user of this machine.
        is_trusted=not (is_request and settings.api_keys),
        commands=settings.allowed_commands,
        list_tools=list_tools,
    )
    spec = check_spec(written, context)
    media.check()
    samples = open_samples(spec, media)
    replayed = replayable(spec, samples.refs, partial(stored_job, settings))
    refs, faults = joined_samples(spec, samples, replayed)
    return Draft(spec=spec, refs=refs, faults=faults, job=open_job(spec, samples, media))


def list_tools(name: str, server: ToolServer) -> Listing:
    """What a tool server offers now: it is started for this, and stopped.

    Raises:
        ServerFault: it does not start, or does not list its tools in time.
    """
    from gnomon_tools.servers.connections import connections  # late: few specs have servers

    return connections().list_tools(name, server)


def replayable(
    spec: JobSpec, refs: Sequence[SampleRef], find: Callable[[str], StoredJob]
) -> Sequence[SampleRef]:
    """The samples that every arm and model can replay: those on which a tool was called then.

    Raises:
        SpecError: there is none.
    """
    first_with: dict[tuple[str, str, str | None], int] = {}
    for at, arm in enumerate(spec.arms):
        if arm.replay is not None:
            first_with.setdefault((arm.replay.job, arm.replay.arm, arm.replay.tool), at)
    for (job_id, arm_name, tool), at in first_with.items():
        job = find(job_id)
        for model in spec.models:
            called = job.called(model.label, arm_name, tool)
            refs = [ref for ref in refs if ref.sample_id in called]
        if not refs:
            message = f"no selected sample on which {tool or 'a tool'} was called in {job.id}"
            raise SpecError(message, field=f"arms.{at}.replay")
    return refs


def resume(
    job_id: str,
    *,
    store: "Store",
    redis: "Redis",
    billed_usd: float | None = None,
    billed_tokens: int | None = None,
    poster: Poster = NOBODY,
) -> "JobRecord":
    """Reopen a job and queue its missing trials.

    `billed_usd` and `billed_tokens` are all that its provider has billed for it, where that is known: what
    may have been spent beyond that is free again.

    Raises:
        NotFound: the job does not exist.
        SpecError: the job was run elsewhere, or with plug-ins of others that are absent or changed.
    """
    spec = store.job(job_id).spec
    check_pins(spec)
    agents = {arm.agent for arm in spec.arms if isinstance(arm.agent, str)}
    if spec.benchmark not in BENCHMARKS or any(agent not in AGENTS for agent in agents):
        raise SpecError(f"{job_id} was run elsewhere; its missing trials cannot be run here", field="JOB")
    from gnomon_workers.budget.usage import Usage  # late, as the store

    reopened = store.resume(job_id, billed=Usage(billed_usd, billed_tokens), poster=poster)
    return _queued(reopened, store=store, redis=redis)


def submit(
    draft: Draft,
    *,
    store: "Store",
    redis: "Redis",
    idempotency_key: str | None = None,
    poster: Poster = NOBODY,
) -> "JobRecord":
    """Store the job, then queue its shards; if Redis is unreachable, the sweeper queues them later.

    Of a job of more than MOST_AT_ONCE trials a worker makes the trials: until then it is `preparing`.

    Raises:
        Unwanted: nobody waits for it any more; nothing is stored.
    """
    check_wanted()
    is_large = draft.planned_trials > MOST_AT_ONCE and not any(arm.replay for arm in draft.spec.arms)
    if is_large:
        job = store.accept_job(
            draft.spec,
            planned=draft.planned_trials,
            faults=draft.faults,
            idempotency_key=idempotency_key,
            poster=poster,
        )
    else:
        job = store.create_job(
            draft.spec, draft.refs, faults=draft.faults, idempotency_key=idempotency_key, poster=poster
        )
    return _queued(job, store=store, redis=redis)


def of_draft(draft: Draft) -> "Callable[[LocalStack], JobRecord]":
    """A `begin` for `run_job.run_to_end` that stores and queues the draft's job."""
    return lambda here: submit(draft, store=here.store, redis=here.redis)


def _queued(job: "JobRecord", *, store: "Store", redis: "Redis") -> "JobRecord":
    from redis import RedisError  # late, as the queue: most commands that draft a job run none

    from gnomon_workers.queue import enqueue_shards
    from gnomon_workers.store.records import PREPARE

    try:
        is_preparing = job.status == "preparing"
        shards = [PREPARE] if is_preparing else [shard for _, shard in store.unfinished_shards(job.id)]
        enqueue_shards(redis, job, shards)
    except RedisError as error:
        log.warning("job %s is stored, but Redis does not answer (%s); the sweeper queues it", job.id, error)
    return job
