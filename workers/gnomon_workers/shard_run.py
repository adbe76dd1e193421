"""What it takes to run a shard: the open job, its agents and models, and what the worker brings along."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gnomon.core.agent import Agent
from gnomon.core.model import Model
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.durations import Durations
from gnomon_workers.heartbeat import Heartbeat
from gnomon_workers.open_job import OpenJob
from gnomon_workers.settings import Timing
from gnomon_workers.store.records import Lease
from gnomon_workers.store.store import Store
from gnomon_workers.tracing import Tracer, no_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRun:
    """One run of a shard, and of those that follow it.

    `changed` is set whenever a trial may be begun that could not be before. In threads: `on_lease` is called
    with the trials that come next; `next_shard` names the shard to go on with when nothing of one is left to
    begin, so that no slot stays empty until its last trial ends; `report_resting` is called, again and again,
    while all that runs waits long for its provider, with whether that is all that the job could ask; `look`
    is called when results have been written.
    """

    job_id: str
    shard: int
    opened: OpenJob
    store: Store
    heartbeat: Heartbeat
    timing: Timing
    agents: Mapping[str, Agent]
    models: Mapping[str, Model]
    judge: Model | None = None
    budget: BudgetClient | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    on_lease: Callable[[Sequence[Lease]], None] = lambda _: None
    next_shard: Callable[[int], int | None] = lambda _: None
    report_resting: Callable[[bool], None] = lambda _: None
    look: Callable[[], None] = lambda: None
    tracer: Tracer = no_spans
    durations: Durations = field(default_factory=Durations)
