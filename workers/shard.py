"""Shard: the trials of one message, run on one event loop."""

import asyncio
import logging
import signal
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from gnomon.agent import AGENTS
from gnomon.errors import GnomonError
from gnomon.media import MediaStore
from gnomon.model import Model
from gnomon.spec import ModelSpec
from tools.core.registry import UnknownPlugin
from workers.heartbeat import Heartbeat
from workers.opening import Opener
from workers.runner import Runner
from workers.settings import Timing
from workers.store.store import Store

log = logging.getLogger(__name__)

OpenModel = Callable[[ModelSpec, MediaStore], Model]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext:
    """What a process needs to run shards."""

    name: str
    store: Store
    opener: Opener
    open_model: OpenModel
    timing: Timing


def run_shard(job_id: str, shard: int, *, context: WorkerContext) -> None:
    """Run what is pending of a shard until nothing is, its job is cancelled, or SIGTERM asks to stop.

    A job that cannot be set up here (data, agents, a model's options) fails as a whole, with the reason.
    """
    if not context.store.standing(job_id).open:
        return
    try:
        opened = context.opener.open(job_id, store=context.store)
        spec = opened.bench.spec
        agents = {arm.agent: AGENTS.get(arm.agent) for arm in spec.arms}
        models = {model.label: context.open_model(model, opened.bench.media) for model in spec.models}
    except (GnomonError, UnknownPlugin) as error:
        log.warning("job %s cannot be set up: %s", job_id, error)
        context.store.fail(job_id, str(error))
        return
    holder = f"{context.name}/{uuid.uuid4().hex[:8]}"
    with Heartbeat(context.store, job_id=job_id, holder=holder, timing=context.timing) as heartbeat:
        runner = Runner(
            job_id,
            shard,
            opened,
            store=context.store,
            heartbeat=heartbeat,
            timing=context.timing,
            agents=agents,
            models=models,
        )
        asyncio.run(_run(runner, models))


async def _run(runner: Runner, models: dict[str, Model]) -> None:
    loop = asyncio.get_running_loop()
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread:
        loop.add_signal_handler(signal.SIGTERM, runner.stop)
    try:
        await runner.run()
    finally:
        if in_main_thread:
            loop.remove_signal_handler(signal.SIGTERM)
        for model in models.values():
            with suppress(Exception):  # what a model does on its way out changes no result
                await model.close()
