"""A shard in this process: what is kept in flight, what is broken off, what is paid."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from gnomon.core.agent import AGENTS, Agent, AgentContext
from gnomon.core.model import Model, Reply, Request
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.budget.model import with_budget
from gnomon_workers.heartbeat import Heartbeat
from gnomon_workers.open_job import OpenJob, OpenSpec
from gnomon_workers.runner import Runner
from gnomon_workers.settings import Timing
from gnomon_workers.shard import run_shard
from gnomon_workers.shard_run import ShardRun
from gnomon_workers.store import JobRecord, Store
from gnomon_workers.store.leases import ISOLATE_AFTER
from gnomon_workers.store.results import Ended
from tests.gnomon.questions.test_judge import QUESTION, RIGHT
from tests.gnomon.questions.test_judge import job as judged
from tests.workers.conftest import Clock, create
from tests.workers.tiny_worker import context_of, open_fake_job, open_nothing

QUICK = Timing(lease_s=5.0, watch_s=0.05, flush_s=0.05, grace_s=0.1, cancel_s=0.1)


class ManualHeartbeat(Heartbeat):
    """A heartbeat that beats only when the test says so: it starts no thread."""

    def __init__(self, store: Store, job_id: str, *, timing: Timing) -> None:
        super().__init__(store, job_id=job_id, holder="tiny", timing=timing)


class ConcurrencyProbe:
    """A model that notes how many of its calls run at once."""

    id = "probe"

    def __init__(self, *, delay_s: float = 0.02, usd: float = 0.25) -> None:
        self.now = self.most = self.calls = 0
        self.two_calls = asyncio.Event()
        self._delay_s, self._usd = delay_s, usd

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        if self.calls == 2:
            self.two_calls.set()
        try:
            await asyncio.sleep(self._delay_s)
        finally:
            self.now -= 1
        return Reply(text="A", prompt_tokens=1, completion_tokens=1, usd=self._usd)

    async def close(self) -> None:
        return


def runner_of(
    store: Store,
    job: JobRecord,
    heartbeat: Heartbeat,
    model: Model,
    *,
    shard: int = 0,
    agent: Agent | None = None,
    opened: OpenJob | None = None,
    judge: Model | None = None,
) -> Runner:
    changed = asyncio.Event()
    budget = BudgetClient(
        job.id,
        job.spec,
        store=store,
        holder=heartbeat.holder,
        ttl_s=QUICK.lease_s,
        on_room=changed.set,
    )
    run = ShardRun(
        job_id=job.id,
        shard=shard,
        opened=opened or open_fake_job(job.spec, MediaStore(Path("unused"))),
        judge=judge,
        store=store,
        heartbeat=heartbeat,
        timing=QUICK,
        agents={arm.name: agent or AGENTS.get("direct") for arm in job.spec.arms},
        models={"scripted": with_budget(model, job.spec.models[0], budget)},
        budget=budget,
        changed=changed,
    )
    return Runner(run)


async def test_a_shard_keeps_its_concurrency_and_no_more(real_store: Store) -> None:
    job, probe = create(real_store, 16, concurrency=8), ConcurrencyProbe(delay_s=0.3)
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    for shard in range(job.shards):
        await runner_of(real_store, job, heartbeat, probe, shard=shard).run()
    assert probe.most == 8
    assert probe.calls == real_store.job(job.id).counts.scored == 32


async def test_a_lease_that_is_lost_breaks_its_trial_off_and_that_one_only(real_store: Store) -> None:
    job, probe = create(real_store, 1), ConcurrencyProbe(delay_s=1.0)
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    running = asyncio.create_task(runner_of(real_store, job, heartbeat, probe).run())
    await probe.two_calls.wait()
    await asyncio.sleep(0.1)
    held = sorted(real_store.renew("tiny", ttl_s=5.0))
    heartbeat.held, heartbeat.held_since_s = set(held[:1]), time.monotonic()
    await running
    assert [row.trial_id for row in real_store.iter_rows(job.id)] == [held[0][0]]


async def test_a_worker_that_cannot_renew_stops_calling(real_store: Store) -> None:
    job, probe = create(real_store, 1), ConcurrencyProbe(delay_s=60)
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    running = asyncio.create_task(runner_of(real_store, job, heartbeat, probe).run())
    await probe.two_calls.wait()
    heartbeat.held_since_s -= QUICK.lease_s
    async with asyncio.timeout(20):
        await running
    assert probe.now == 0
    assert list(real_store.iter_rows(job.id)) == []


async def test_a_stopped_shard_breaks_off_after_the_grace_time_and_gives_back(real_store: Store) -> None:
    job, probe = create(real_store, 1), ConcurrencyProbe(delay_s=60)
    runner = runner_of(real_store, job, ManualHeartbeat(real_store, job.id, timing=QUICK), probe)
    running = asyncio.create_task(runner.run())
    await probe.two_calls.wait()
    runner.stop()
    async with asyncio.timeout(20):
        await running
    assert real_store.job(job.id).counts.running == 0
    assert len(real_store.lease(job.id, 0, worker="next", ttl_s=5.0)) == 2


async def test_a_cancelled_job_breaks_off_a_judge_that_does_not_answer_and_gives_back(
    real_store: Store, tmp_path: Path
) -> None:
    opened = judged(tmp_path, [QUESTION], {"replies": [RIGHT]})
    job = real_store.create_job(opened.bench.spec, opened.samples.refs)
    subject, judge = ConcurrencyProbe(), ConcurrencyProbe(delay_s=60)
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    runner = runner_of(real_store, job, heartbeat, subject, opened=opened, judge=judge)
    running = asyncio.create_task(runner.run())
    await judge.two_calls.wait()
    real_store.cancel(job.id)
    heartbeat.poll_job()
    async with asyncio.timeout(20):
        await running
    record = real_store.job(job.id)
    assert (record.status, record.counts.running, judge.now) == ("cancelled", 0, 0)
    assert record.known_usd == 2 * 0.25, "of the replies that it was to judge"


@pytest.mark.parametrize(("is_stopped", "kept"), [(False, 2), (True, 0)], ids=["left alone", "SIGTERM"])
async def test_results_are_kept_for_a_store_that_is_away_for_longer_than_a_lease(
    real_store: Store, monkeypatch: pytest.MonkeyPatch, is_stopped: bool, kept: int
) -> None:
    job = create(real_store, 1)
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    runner = runner_of(real_store, job, heartbeat, ConcurrencyProbe())
    loop, finish, tries = asyncio.get_running_loop(), real_store.finish, itertools.count()

    def away(ended: Sequence[Ended]) -> set[str]:
        heartbeat.held_since_s = time.monotonic() - QUICK.lease_s
        if is_stopped:
            loop.call_soon_threadsafe(runner.stop)
        if is_stopped or next(tries) < 5:
            raise OperationalError("UPDATE", None, Exception("away"))
        return finish(ended)

    monkeypatch.setattr(real_store, "finish", away)
    async with asyncio.timeout(20):
        await runner.run()
    assert real_store.job(job.id).counts.scored == kept


class Dawdler:
    """Asks once, and then takes its time."""

    name, uses_tools, description = "direct", False, "dawdles"

    async def answer(self, context: AgentContext) -> str:
        await context.generate(context.prompt)
        await asyncio.sleep(60)
        return "A"


async def test_what_a_broken_off_trial_has_cost_is_counted_once(real_store: Store) -> None:
    job, probe = create(real_store, 1, limits={"usd": 10.0}), ConcurrencyProbe()
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    runner = runner_of(real_store, job, heartbeat, probe, agent=Dawdler())
    running = asyncio.create_task(runner.run())
    await probe.two_calls.wait()
    await asyncio.sleep(0.1)
    runner.stop()
    async with asyncio.timeout(20):
        await running
    assert real_store.job(job.id).known_usd == 2 * 0.25


@pytest.mark.parametrize("limits", [{"usd": 1.0}, {"tokens": 8}])
async def test_a_job_stops_at_its_limits_and_its_arms_stay_paired(
    real_store: Store, limits: dict[str, float]
) -> None:
    job, probe = create(real_store, 20, limits=limits, concurrency=2), ConcurrencyProbe(delay_s=0.01)
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    for shard in range(job.shards):
        await runner_of(real_store, job, heartbeat, probe, shard=shard).run()
    record = real_store.job(job.id)
    assert record.status == "completed"
    assert probe.calls == 4
    rows = list(real_store.iter_rows(job.id))
    raw, tools = ({row.sample_id for row in rows if row.arm == arm and row.score} for arm in ("raw", "tools"))
    assert raw == tools != set()
    assert {row.stop_reason for row in rows if row.outcome is Outcome.INFRA_MISSING} == {"budget"}


class WaitsForOthers:
    """Answers once so many trials have asked."""

    name, uses_tools, description = "direct", False, "waits for others"

    def __init__(self, trials: int) -> None:
        self._have_asked = asyncio.Barrier(trials)

    async def answer(self, context: AgentContext) -> str:
        await context.generate(context.prompt)
        await self._have_asked.wait()
        return "A"


async def test_no_trial_need_end_before_others_begin_where_arms_say_what_one_may_cost(
    real_store: Store,
) -> None:
    arms = [{"name": name, "agent": "direct", "max_usd": 1.0} for name in ("raw", "tools")]
    job = create(real_store, 4, limits={"usd": 100.0}, arms=arms, concurrency=8)
    heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
    of_shard = 8 // job.shards
    assert of_shard > len(arms), "more than one sample"
    async with asyncio.timeout(20):
        await runner_of(real_store, job, heartbeat, ConcurrencyProbe(), agent=WaitsForOthers(of_shard)).run()
    assert real_store.job(job.id).counts.scored == of_shard


class Preparing:
    """Works a while before it asks, as one does that decodes a clip."""

    name, uses_tools, description = "direct", False, "prepares"

    async def answer(self, context: AgentContext) -> str:
        await asyncio.sleep(0.1)
        await context.generate(context.prompt)
        return "A"


async def test_a_job_whose_calls_may_cost_more_than_its_arms_allow_spends_what_it_may(
    real_store: Store,
) -> None:
    arms = [{"name": name, "agent": "direct", "max_usd": 0.1} for name in ("raw", "tools")]
    model = {"id": "scripted", "max_tokens": 1_000, "price": {"input": 1, "output": 150}}  # a call: 0.15
    job = create(real_store, 20, limits={"usd": 1.0}, arms=arms, models=[model], concurrency=16)
    probe = ConcurrencyProbe(usd=0.005)
    for shard in range(job.shards):
        heartbeat = ManualHeartbeat(real_store, job.id, timing=QUICK)
        await runner_of(real_store, job, heartbeat, probe, shard=shard, agent=Preparing()).run()
    assert real_store.job(job.id).counts.scored == 40


def test_a_whole_shard_runs_in_this_process(real_store: Store, tmp_path: Path) -> None:
    job = create(real_store, 3)
    for shard in range(job.shards):
        run_shard(job.id, shard, context=context_of(real_store, tmp_path))
    assert real_store.job(job.id).status == "completed"


def test_a_process_goes_on_with_the_shards_that_follow(real_store: Store, tmp_path: Path) -> None:
    job = create(real_store, 6, concurrency=1)
    assert job.shards > 2
    left = iter(range(1, job.shards))
    context = replace(context_of(real_store, tmp_path), next_shard=lambda job_id: next(left, None))
    run_shard(job.id, 0, context=context)
    record = real_store.job(job.id)
    assert (record.status, record.counts.scored) == ("completed", 12)


def test_no_shard_is_taken_before_a_slot_is_free(real_store: Store, tmp_path: Path) -> None:
    model = {"id": "scripted", "options": {"replies": ["A"], "delay_s": 0.5}}
    job = create(real_store, 4, concurrency=2, models=[model])
    asked_s: list[float] = []
    context = replace(context_of(real_store, tmp_path), next_shard=lambda _: asked_s.append(time.monotonic()))
    began_s = time.monotonic()
    run_shard(job.id, 0, context=context)
    assert len(asked_s) == 1
    assert asked_s[0] - began_s >= 0.5  # no trial of its own shard ends sooner


def test_no_shard_follows_one_with_a_trial_that_must_run_isolated(real_store: Store, tmp_path: Path) -> None:
    job = create(real_store, 6)
    for _ in range(ISOLATE_AFTER):
        real_store.lease(job.id, 0, worker="dead/1/", ttl_s=60, limit=1)
        real_store.expire("dead/1/")
        real_store.sweep()
    context = context_of(real_store, tmp_path)
    run_shard(job.id, 0, context=replace(context, next_shard=lambda _: pytest.fail("it went on")))
    assert real_store.job(job.id).counts.scored == 12 // job.shards


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"models": [{"id": "scripted", "options": {"nonsense": 1}}]}, "nonsense"),
        ({"models": [{"id": "reference", "options": {"depth": 1}}]}, "depth"),
    ],
)
def test_what_can_run_nowhere_fails_at_once(
    real_store: Store, tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    job = create(real_store, 2, **changes)
    run_shard(job.id, 0, context=context_of(real_store, tmp_path))
    record = real_store.job(job.id)
    assert record.status == "failed"
    assert reason in record.error
    assert record.counts.infra_missing == record.counts.planned


ELSEWHERE = {"id": "x/y", "api_base": "https://llm.example.org", "api_key_env": "A_KEY"}


def open_badly(spec: JobSpec, media: MediaStore) -> OpenJob:
    raise KeyError("a loader's own mistake")


@pytest.mark.parametrize(
    ("changes", "open_spec", "reason"),
    [
        ({"arms": [{"name": "raw", "agent": "unheard-of"}]}, open_fake_job, "unheard-of"),
        ({"arms": [{"name": "t", "agent": "direct", "tools": ["gone"]}]}, open_fake_job, "no tool 'gone'"),
        ({"models": [ELSEWHERE]}, open_fake_job, "models.0.api_base: "),
        ({}, open_nothing, "data: the folder is not there"),
        ({}, open_badly, "a loader's own mistake"),
    ],
)
def test_what_cannot_be_set_up_here_waits_for_another_worker_for_a_while(
    store: Store, clock: Clock, tmp_path: Path, changes: dict[str, Any], open_spec: OpenSpec, reason: str
) -> None:
    job = create(store, 2, **changes)
    context = context_of(store, tmp_path, open_spec=open_spec)
    run_shard(job.id, 0, context=context)
    assert store.job(job.id).status == "queued"
    clock.now_s += context.timing.setup_s
    run_shard(job.id, 0, context=context)
    record = store.job(job.id)
    assert record.status == "failed"
    assert reason in record.error
    assert record.counts.infra_missing == record.counts.planned


def test_a_cancelled_job_is_not_even_opened(real_store: Store, tmp_path: Path) -> None:
    job = create(real_store, 1)
    real_store.cancel(job.id)
    context = context_of(real_store, tmp_path, open_spec=lambda _spec, _media: pytest.fail("opened"))
    run_shard(job.id, 0, context=context)
    assert real_store.job(job.id).status == "cancelled"
