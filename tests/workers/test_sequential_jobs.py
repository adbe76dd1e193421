"""Jobs that stop early: they end balanced, whatever dies, and go on only when that is asked for."""

import os
import signal
from typing import Any

from gnomon.report.look import due_after
from gnomon.spec.job_spec import JobSpec
from gnomon_workers.looks import Looker, LookerOfAll
from gnomon_workers.queue import enqueue_shards
from gnomon_workers.store import JobRecord, Store
from tests.workers.conftest import BOTH, TRACE, Plant, children_of, create, make_row, wait_until
from tests.workers.tiny_worker import refs

ARMS = [
    {"name": "raw", "agent": "direct"},
    {"name": "tools", "agent": "react", "tools": ["compose_poses"]},
]
STOPS = {"arms": ARMS, "analysis": {"primary": ["raw", "tools"], "sequential": True}}
RULES = [{"tools": True, "replies": ["A"]}, {"tools": False, "replies": ["B"]}]
HELPED = [{"id": "scripted", "options": {"rules": RULES, "delay_s": 0.05}}]


def begin(store: Store, samples: int = 60, **changes: Any) -> JobRecord:
    return create(store, samples, **{**STOPS, "concurrency": 4, **changes})


def answer(store: Store, job: JobRecord, shards: int, *, raw: float, tools: float) -> None:
    """End all trials of the first so many shards."""
    for shard in range(shards):
        leases = store.lease(job.id, shard, worker="w", ttl_s=60)
        scores = {"raw": raw, "tools": tools}
        store.finish([(lease, make_row(lease, score=scores[lease.trial.arm]), TRACE) for lease in leases])


def looker(store: Store, job: JobRecord) -> Looker:
    return Looker(store, job.id, job.spec, headline="mean_of_cells")


def order_of(store: Store, job: JobRecord) -> list[str]:
    return [ref.cluster for ref in store.refs(job.id)]


def test_clusters_come_whole_and_in_an_order_that_the_seed_draws(store: Store) -> None:
    order = order_of(store, begin(store))
    assert order[::2] == order[1::2]
    assert len(set(order[::2])) == 30
    assert order != [ref.cluster for ref in refs(60)]
    assert order == order_of(store, begin(store, name="the same again"))
    assert order != order_of(store, begin(store, select={"limit": 60, "seed": 2}))


def test_a_look_is_due_after_the_repeats_that_each_arm_has(store: Store) -> None:
    raw, tools = ARMS
    job = begin(store, arms=[{**raw, "repeats": 3}, tools], repeats=1)
    due = due_after(job.spec, store.refs(job.id), headline="mean_of_cells")
    assert min(due.items()) == (9, 18 * (3 + 1)), "the first look takes 9 clusters of 2 samples"


@BOTH
def test_a_decided_job_is_completed_leases_nothing_and_keeps_the_rest_unrun(store: Store) -> None:
    job = begin(store)
    look = looker(store, job)
    answer(store, job, 10, raw=0.0, tools=0.4)
    look.look()
    assert store.job(job.id).status == "running"
    answer(store, job, 16, raw=0.0, tools=1.0)
    in_hand = store.lease(job.id, 16, worker="slow", ttl_s=60)
    look.look()
    stopped = store.job(job.id)
    assert (stopped.status, stopped.is_decided, stopped.counts.running) == ("completed", True, 4)
    assert stopped.not_run == 120 - 64 - 4
    assert store.lease(job.id, 17, worker="w", ttl_s=60) == []
    assert store.unfinished_shards(job.id) == []
    assert store.finish([(lease, make_row(lease), TRACE) for lease in in_hand]) == set()
    ended = store.job(job.id)
    assert (ended.status, ended.counts.infra_missing, ended.counts.done) == ("completed", 0, 68)
    assert [(each["clusters"], each["decided"]) for each in store.looks(job.id)] == [(9, False), (15, True)]


def test_a_resumed_job_runs_the_rest_and_is_not_stopped_again(store: Store) -> None:
    job = begin(store)
    look = looker(store, job)
    answer(store, job, 16, raw=0.0, tools=1.0)
    look.look()
    assert store.resume(job.id).status == "queued"
    answer(store, job, 24, raw=0.0, tools=1.0)
    look.look()
    assert store.job(job.id).status == "running"
    answer(store, job, 30, raw=0.0, tools=1.0)
    look.look()
    ended = store.job(job.id)
    assert (ended.status, ended.not_run, ended.is_decided) == ("completed", 0, True)
    assert [each["decided"] for each in store.looks(job.id)] == [True, False, False]


def test_only_the_first_clusters_of_the_order_count(store: Store) -> None:
    job = begin(store)
    leases = [lease for shard in range(1, 30) for lease in store.lease(job.id, shard, worker="w", ttl_s=60)]
    scores = {"raw": 0.0, "tools": 1.0}
    store.finish([(lease, make_row(lease, score=scores[lease.trial.arm]), TRACE) for lease in leases])
    looker(store, job).look()
    assert store.looks(job.id) == []
    assert store.job(job.id).status == "running"


def test_looks_come_at_planned_clusters_however_often_anybody_looks(store: Store) -> None:
    job = begin(store)
    look = looker(store, job)
    for shards in range(1, 31):
        answer(store, job, shards, raw=1.0, tools=1.0)
        look.look()
        LookerOfAll(store).look()
    assert [each["clusters"] for each in store.looks(job.id)] == [9, 12, 15, 18, 21, 24, 27, 30]


def test_no_difference_stops_no_small_job(store: Store) -> None:
    job = begin(store)
    answer(store, job, 29, raw=1.0, tools=1.0)
    looker(store, job).look()
    assert store.job(job.id).status == "running"


def test_equal_arms_stop_a_job_whose_margin_is_wide_enough(store: Store) -> None:
    analysis = {"primary": ["raw", "tools"], "sequential": True, "margin": 0.3}
    job = begin(store, analysis=analysis)
    answer(store, job, 24, raw=0.5, tools=0.5)
    looker(store, job).look()
    assert store.job(job.id).status == "completed"
    assert store.looks(job.id)[-1]["contrasts"][0]["verdict"] == "no_effect"


def test_the_sweeper_looks_where_all_workers_have_died(store: Store) -> None:
    job, plain = begin(store), create(store)
    answer(store, job, 16, raw=1.0, tools=0.0)
    looks = LookerOfAll(store)
    looks.look()
    assert store.job(job.id).status == "completed"
    assert store.looks(job.id)[-1]["contrasts"][0]["verdict"] == "hurts"
    assert store.job(plain.id).status == "queued"
    assert store.open_sequential_jobs() == []


def test_a_job_over_two_workers_stops_early_though_one_is_killed(two_workers: Plant) -> None:
    store = two_workers.store
    wait_until(lambda: len(store.workers()) >= 2)
    job = begin(store, 400, models=HELPED)
    enqueue_shards(two_workers.redis, job, range(job.shards))
    wait_until(lambda: store.job(job.id).counts.done > 8)
    worker = two_workers.supervisor.pids()["worker-1"]
    for pid in [*children_of(worker), worker]:
        os.kill(pid, signal.SIGKILL)
    two_workers.end_of(job)
    wait_until(lambda: not store.job(job.id).counts.running)
    ended = store.job(job.id)
    assert (ended.status, ended.is_decided, ended.counts.infra_missing) == ("completed", True, 0)
    assert ended.not_run > 400
    rows = list(store.iter_rows(job.id))
    assert len(rows) == len({row.trial_id for row in rows}) == ended.counts.done
    decided = store.looks(job.id)
    first = {ref.sample_id for ref in store.refs(job.id)[: decided[-1]["samples"]]}
    arms = [row.arm for row in rows if row.sample_id in first]
    assert arms.count("raw") == arms.count("tools") == len(first)


def test_the_plan_says_nothing_of_jobs_that_do_not_stop_early(store: Store) -> None:
    job = create(store, 60)
    assert order_of(store, job) == [ref.cluster for ref in refs(60)]
    assert "sequential" not in JobSpec.model_validate(job.spec.model_dump(mode="json")).model_dump_json()
