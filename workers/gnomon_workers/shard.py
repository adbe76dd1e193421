"""Runs the trials of one message on one event loop, with their models within limits and budget."""

import asyncio
import gc
import logging
import signal
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy.exc import SQLAlchemyError

from gnomon.conditions.cassette import cassette_of
from gnomon.core.agent import Agent, OutsideLoop, agents_of, close_agents
from gnomon.core.errors import NoRoom, ProviderFault, SpecError
from gnomon.core.message import ImageBlock
from gnomon.core.model import OWN_MODEL, Model, UncalledModel, is_built_in
from gnomon.core.outside_agent import OutsideAgent
from gnomon.fitness.needs import prompts_show_pictures
from gnomon.media import MediaStore
from gnomon.spec.endpoints import EndpointAllowlist, check_endpoints
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec, Rate
from gnomon.spec.outside_agents import check_outside_agents
from gnomon.spec.tool_servers import check_servers
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.budget.model import with_budget
from gnomon_workers.circuit_breaker import BreakableModel
from gnomon_workers.durations import Durations, TimedModel
from gnomon_workers.heartbeat import Heartbeat
from gnomon_workers.looks import Looker
from gnomon_workers.open_job import JobCache, OpenJob
from gnomon_workers.paused_model import paused
from gnomon_workers.preflight import Preflight
from gnomon_workers.preparation import prepare_job
from gnomon_workers.rate_limit.limiter import Limiter, flow_of
from gnomon_workers.rate_limit.waits import WaitRecord
from gnomon_workers.redacted_model import redacted
from gnomon_workers.response_cache import ResponseCache, fingerprint
from gnomon_workers.runner import Runner
from gnomon_workers.settings import Timing
from gnomon_workers.shard_run import ShardRun
from gnomon_workers.store.budgets import SpendLimit
from gnomon_workers.store.records import PREPARE
from gnomon_workers.store.store import Store
from gnomon_workers.tracing import Tracer, tracing

DURATIONS_S = 5.0  # how often they are written
log = logging.getLogger(__name__)

OpenModel = Callable[[ModelSpec, MediaStore], Model]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext:
    """What a process needs to run shards."""

    name: str
    store: Store
    opener: JobCache
    open_model: OpenModel
    timing: Timing
    allowed_bases: EndpointAllowlist
    redis_url: str | None = None  # of the limiter; None: every call may go at once
    rates: Mapping[str, Rate] = field(default_factory=dict)
    is_caching: bool = True
    next_shard: Callable[[str], int | None] = lambda _job_id: None  # the shard that a process may go on with
    report_resting: Callable[[str, bool], None] = lambda _job_id, _whole: None  # see Runner


def run_shard(job_id: str, shard: int, *, context: WorkerContext) -> None:
    """Run what is pending of a shard, and of those of its job that follow it, until nothing is, the job is
    cancelled, or SIGTERM asks to stop.

    A job that cannot be set up here (no data, no such agent or tool, or an endpoint that is not allowed) is
    left to other workers; one whose model does not take its options could run nowhere and fails at once.
    Shard PREPARE is the making of the job's trials.
    """
    if shard == PREPARE:
        prepare_job(job_id, context=context)
        return
    ready = _set_up(job_id, context) if context.store.is_open(job_id) else None
    if ready is None:
        return
    opened, agents, models = ready
    holder = f"{context.name}/{uuid.uuid4().hex[:8]}"
    with (
        tracing(job_id, shard, worker=context.name, spec=opened.bench.spec) as tracer,
        Heartbeat(context.store, job_id=job_id, holder=holder, timing=context.timing) as heartbeat,
    ):
        try:
            asyncio.run(_run(job_id, shard, opened, heartbeat, agents, models, context, tracer))
        finally:
            if opened.bench.spec.servers:
                from gnomon_tools.servers.connections import close_all  # late: few jobs have servers

                close_all()
    gc.collect()  # the loop and its clients held each other; with nothing in flight this costs little


def _pictures_for(opened: OpenJob, model: ModelSpec) -> Sequence[ImageBlock]:
    """Those that a preflight tries, where prompts show the model some."""
    shows = prompts_show_pictures(opened.bench.spec, model, opened.samples)
    if not shows:
        return ()
    from gnomon.fitness.pictures import pictures_in  # late: it loads Pillow

    return pictures_in(opened.bench.media)


def _set_up(job_id: str, context: WorkerContext) -> tuple[OpenJob, dict[str, Agent], dict[str, Model]] | None:
    try:
        opened = context.opener.open(job_id, store=context.store)
        spec = opened.bench.spec
        agents = agents_of(spec.arms)
        for arm in spec.arms:
            spec.toolset(arm)  # a tool may have gone since the job was posted
            cassette_of(arm)  # and a file may have changed
        # This was checked when the job was posted; but the keys are here, and so is the last check.
        check_endpoints(spec.called_models, context.allowed_bases, is_trusted=True)
        check_outside_agents(spec.arms, context.allowed_bases, is_request=False, is_trusted=True)
        check_servers(spec.servers, context.allowed_bases)
        called = {model.label for model in spec.called_models.values()}
        try:
            models = {
                model.label: context.open_model(model, opened.bench.media)
                if model.label in called
                else UncalledModel(model.id)
                for model in spec.all_models
            }
        except SpecError as error:
            log.warning("job %s can run nowhere: %s", job_id, error)
            context.store.fail(job_id, str(error))
            return None
    except NoRoom as error:
        log.warning("job %s waits for room on the disk: %s", job_id, error)
        return None  # the sweeper queues the shard again
    except Exception as error:  # noqa: BLE001 (whatever it is, the job must run elsewhere, or end)
        log.warning("job %s cannot be set up here: %r", job_id, error)
        context.store.record_setup_failure(
            job_id, str(error) or repr(error), patience_s=context.timing.setup_s
        )
        return None
    return opened, agents, models


async def _run(
    job_id: str,
    shard: int,
    opened: OpenJob,
    heartbeat: Heartbeat,
    agents: dict[str, Agent],
    models: dict[str, Model],
    context: WorkerContext,
    tracer: Tracer,
) -> None:
    spec = opened.bench.spec
    async with AsyncExitStack() as stack:
        for model in models.values():
            stack.push_async_callback(_close, model)
        stack.push_async_callback(close_agents, agents.values())
        durations = Durations()
        await stack.enter_async_context(durations.written(context.redis_url, every_s=DURATIONS_S))
        pause = partial(paused, heartbeat=heartbeat, look_s=context.timing.flush_s)
        trial_models = {
            label: pause(redacted(TimedModel(model, durations), spec.model(label)))
            for label, model in models.items()
        }
        preflight_models = trial_models
        if context.redis_url is not None:
            limiter = Limiter(
                context.redis_url, flow=flow_of(job_id, spec), rates=context.rates, retry=spec.retry
            )
            stack.push_async_callback(limiter.close)
            waits = {label: WaitRecord(context.store, job_id, label) for label in models}
            preflight_models, trial_models = (
                {
                    label: limiter.around(model, spec.model(label), waits[label], asks_anew=asks_anew)
                    for label, model in preflight_models.items()
                }
                for asks_anew in (True, False)
            )
            for agent in _outside(agents.values()):
                agent.around(
                    partial(limiter.around, spec=_address_of(agent.spec), waits=waits[spec.models[0].label])
                )
        for agent in _outside(agents.values()):
            agent.around(lambda model: BreakableModel(pause(model), trip=_note_trip))
        changed = asyncio.Event()
        budget = BudgetClient(
            job_id,
            spec,
            store=context.store,
            holder=heartbeat.holder,
            ttl_s=context.timing.lease_s,
            on_room=changed.set,
        )
        preflight = Preflight(
            job_id,
            spec,
            {
                label: with_budget(model, spec.model(label), budget, learns=False)
                for label, model in preflight_models.items()
            },
            store=context.store,
            holder=heartbeat.holder,
            ttl_s=context.timing.lease_s,
            budget=budget,
            is_wanted=lambda: heartbeat.is_open,
            pictures_for=partial(_pictures_for, opened),
        )
        trial_models = {
            label: BreakableModel(
                with_budget(model, spec.model(label), budget), trip=partial(preflight.stop, label)
            )
            for label, model in trial_models.items()
        }
        cache = _cache_of(spec, context)
        await stack.enter_async_context(cache.keeping(context.timing.flush_s))
        trial_models = {label: cache.around(label, model) for label, model in trial_models.items()}
        run = ShardRun(
            job_id=job_id,
            shard=shard,
            opened=opened,
            store=context.store,
            heartbeat=heartbeat,
            timing=context.timing,
            agents=agents,
            judge=trial_models.pop(spec.judge.label) if spec.judge else None,
            models=trial_models,
            budget=budget if budget.limit != SpendLimit() else None,
            changed=changed,
            on_lease=cache.prefetch,
            next_shard=partial(_next_shard, job_id, context),
            report_resting=partial(context.report_resting, job_id),
            look=_look_at(job_id, opened, context),
            tracer=tracer,
            durations=durations,
        )
        runner = Runner(run)
        with _on_sigterm(preflight.abandon, runner.stop):
            await preflight.run()
            await runner.run()


def _look_at(job_id: str, opened: OpenJob, context: WorkerContext) -> Callable[[], None]:
    """A look at the job, where it may stop early."""
    bench = opened.bench
    if not bench.spec.analysis.sequential:
        return lambda: None
    return Looker(context.store, job_id, bench.spec, headline=bench.benchmark.headline).look


def _next_shard(job_id: str, context: WorkerContext, shard: int) -> int | None:
    """The shard to go on with; none after one with a trial that must run isolated."""
    try:
        is_unfinished = context.store.has_poison_suspects(job_id, shard)
    except SQLAlchemyError as error:
        log.warning("shard %d is ended before another is begun: %s", shard, error)
        return None
    return None if is_unfinished else context.next_shard(job_id)


def _cache_of(spec: JobSpec, context: WorkerContext) -> ResponseCache:
    """The cache of all models that make calls; of none where the operator or the spec wants none."""
    wanted = [model for model in spec.called_models.values() if not is_built_in(model.id)]
    is_on = context.is_caching and spec.cache
    return ResponseCache(context.store, {model.label: fingerprint(model) for model in wanted if is_on})


@contextmanager
def _on_sigterm(*stops: Callable[[], None]) -> Iterator[None]:
    def stop() -> None:
        for call in stops:
            call()

    loop = asyncio.get_running_loop()
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread:
        loop.add_signal_handler(signal.SIGTERM, stop)
    try:
        yield
    finally:
        if in_main_thread:
            loop.remove_signal_handler(signal.SIGTERM)


def _outside(agents: Iterable[Agent]) -> list[OutsideLoop]:
    """Those from outside, each once."""
    by_id = {id(agent): agent for agent in agents}
    return [agent for agent in by_id.values() if isinstance(agent, OutsideLoop)]


def _address_of(spec: OutsideAgent) -> ModelSpec:
    """Where an outside agent is called, and with which key, as rate limits look at it; without an address
    nothing is limited.
    """
    if spec.url is None:
        return ModelSpec(id=OWN_MODEL)
    return ModelSpec(id=f"{spec.kind}/agent", api_base=spec.url, api_key_env=spec.api_key_env)


async def _note_trip(fault: ProviderFault) -> None:
    log.warning("an outside agent is not called any more: %s", fault)


async def _close(model: Model) -> None:
    with suppress(Exception):  # what a model does on its way out changes no result
        await model.close()
