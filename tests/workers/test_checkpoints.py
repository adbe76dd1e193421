"""Checkpoints of trials: kept under the lease, counted once, gone with the result."""

import gc
import json
import os
import signal
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from gnomon.core.agent import AGENTS
from gnomon.core.trace import NoteStep, ReplyStep, ToolStep, Trace
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon.trials import checkpoint
from gnomon.trials.checkpoint import SavedTrial
from gnomon_workers.budget.usage import NO_USAGE, Usage
from gnomon_workers.checkpoints import CheckpointWriter
from gnomon_workers.queue import enqueue_shards
from gnomon_workers.store import JobRecord, Lease, Store
from gnomon_workers.store.checkpoints import NewCheckpoint
from gnomon_workers.store.database import insert_or_update
from gnomon_workers.store.leases import ISOLATE_AFTER
from gnomon_workers.store.schema import checkpoints
from tests.workers.conftest import (
    ALL,
    QUICK,
    TINY_WORKER,
    TRACE,
    Clock,
    Plant,
    children_of,
    create,
    make_row,
    wait_until,
)

TTL_S = 10.0


def lease_one(store: Store, job_id: str, *, worker: str = "w") -> Lease:
    return store.lease(job_id, 0, worker=worker, ttl_s=TTL_S, limit=1)[0]


def again(store: Store, clock: Clock, job_id: str) -> Lease:
    """The trial in another worker's hands, when the first has been silent for too long."""
    clock.now_s += TTL_S + 1
    store.sweep()
    return lease_one(store, job_id, worker="w2")


def counted(store: Store, job_id: str) -> tuple[float, int]:
    job = store.job(job_id)
    return job.known_usd, job.known_tokens


def how_many(store: Store) -> int:
    with store.reading() as db:
        return db.execute(select(func.count()).select_from(checkpoints)).scalar_one()


@ALL
def test_the_newest_checkpoint_is_kept_and_what_it_used_counted(store: Store) -> None:
    job = create(store, 1)
    lease = lease_one(store, job.id)
    assert store.checkpoint(lease.trial.trial_id) is None
    assert store.save_checkpoints(job.id, [NewCheckpoint(lease, b"one", Usage(0.25, 10))]) == set()
    later = replace(lease, counted=Usage(0.25, 10))
    assert store.save_checkpoints(job.id, [NewCheckpoint(later, b"two", Usage(1.0, 25))]) == set()
    assert store.checkpoint(lease.trial.trial_id) == b"two"
    assert (how_many(store), counted(store, job.id)) == (1, (1.0, 25))


@ALL
def test_a_worker_that_lost_its_lease_writes_none_and_counts_none(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    lost = lease_one(store, job.id)
    held = again(store, clock, job.id)
    trial_id = lost.trial.trial_id
    assert store.save_checkpoints(job.id, [NewCheckpoint(lost, b"late", Usage(1.0, 10))]) == {trial_id}
    assert (store.checkpoint(trial_id), counted(store, job.id)) == (None, (0.0, 0))
    both = [NewCheckpoint(lost, b"late", Usage(1.0, 10)), NewCheckpoint(held, b"new", Usage(0.5, 4))]
    store.save_checkpoints(job.id, both[1:])
    assert store.checkpoint(trial_id) == b"new"


@ALL
def test_a_result_counts_what_its_checkpoints_have_not_and_takes_them_along(store: Store) -> None:
    job = create(store, 1)
    lease = lease_one(store, job.id)
    store.save_checkpoints(job.id, [NewCheckpoint(lease, b"one", Usage(0.25, 8))])
    ended = replace(lease, counted=Usage(0.25, 8))
    for _ in range(2):  # an answer that was lost is asked for again
        assert store.finish([(ended, make_row(ended), TRACE)]) == set()
    assert (how_many(store), counted(store, job.id)) == (0, (0.5, 12))
    assert store.trial(lease.trial.trial_id).row == make_row(ended)


@ALL
def test_a_refused_result_counts_no_more_than_its_worker_has_spent(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    lost = lease_one(store, job.id)
    store.save_checkpoints(job.id, [NewCheckpoint(lost, b"one", Usage(0.25, 8))])
    held = again(store, clock, job.id)
    late = replace(lost, counted=Usage(0.25, 8))
    assert store.finish([(late, make_row(late), TRACE)]) == {lost.trial.trial_id}
    assert (how_many(store), counted(store, job.id)) == (1, (0.5, 12))
    goes_on = replace(held, counted=Usage(0.25, 8))
    store.finish([(goes_on, make_row(goes_on), TRACE)])
    assert (how_many(store), counted(store, job.id)) == (0, (0.75, 16))


@ALL
def test_trials_that_end_unrun_leave_no_checkpoint(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    for lease in store.lease(job.id, 0, worker="w", ttl_s=TTL_S):
        store.save_checkpoints(job.id, [NewCheckpoint(lease, b"one", Usage(0.25, 8))])
    assert how_many(store) == 2
    clock.now_s += TTL_S + 1
    store.sweep()
    store.fail(job.id, "for a reason")
    assert (how_many(store), counted(store, job.id)) == (0, (0.5, 16))


@ALL
def test_a_checkpoint_keeps_no_lease_from_being_renewed(store: Store) -> None:
    job = create(store, 1)
    lease = lease_one(store, job.id)
    store.save_checkpoints(job.id, [NewCheckpoint(lease, b"one", NO_USAGE)])
    with store.writing() if store.url.startswith("postgresql") else store.reading() as db:
        if store.url.startswith("postgresql"):
            newest = {"trial_id": lease.trial.trial_id, "body": b"two", "saved_at": 0.0}
            insert_or_update(db, checkpoints, newest)
        assert store.renew("w", ttl_s=TTL_S) == {(lease.trial.trial_id, lease.token)}


def trace_of(*steps: str) -> Trace:
    reply = ReplyStep(
        text="go",
        tool_calls=(),
        finish_reason="stop",
        prompt_tokens=5,
        completion_tokens=2,
        usd=0.5,
        cached=False,
        wall_s=1.0,
        tries=1,
        flags=("cut",),
    )
    tool = ToolStep(name="t", arguments="{}", observation="{}", error=None, wall_s=0.5, pictures=("0a",))
    kinds = {"reply": reply, "tool": tool, "note": NoteStep(text="so")}
    return Trace(steps=[kinds[step] for step in steps])


def saved_trial(**changes: object) -> SavedTrial:
    trace = trace_of("reply", "note", "tool")
    plain = SavedTrial(
        digest="d",
        after="gather",
        seconds=1.5,
        tools_offered=2,
        steps=tuple(trace.steps),
        turn_began=0,
        answers=(),
        state=b"\x90",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_saved_trial_is_read_back_as_it_was() -> None:
    body = saved_trial().to_bytes()
    assert body is not None
    assert SavedTrial.from_bytes(body) == saved_trial()


@pytest.mark.parametrize("body", [b"", b"x", (saved_trial().to_bytes() or b"")[:-9], b"x\x9c" + b"0" * 40])
def test_bytes_that_are_none_of_ours_are_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"no checkpoint|Expecting"):
        SavedTrial.from_bytes(body)


def test_a_state_that_is_too_large_or_holds_a_secret_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MAX_STORED", 10_000)
    assert saved_trial(state=os.urandom(20_000)).to_bytes() is None
    key = "sk-" + "a1B2" * 10
    assert saved_trial(state=b"\xa9" + key.encode()).to_bytes() is None
    body = saved_trial(after=f"{key}").to_bytes()
    assert body is not None
    assert key not in SavedTrial.from_bytes(body).after


class Away(Store):
    """A store that fails as long as it is told to."""

    is_away = False

    def save_checkpoints(self, job_id: str, new: object) -> set[str]:
        if self.is_away:
            raise OperationalError("INSERT", None, Exception("away"))
        return super().save_checkpoints(job_id, new)  # type: ignore[arg-type]


@pytest.fixture
def away(url: str, clock: Clock) -> Iterator[Away]:
    store = Away(url, clock=clock)
    yield store
    store.close()


async def test_what_cannot_be_written_is_counted_with_what_comes_next(away: Away) -> None:
    job, told = create(away, 1), list[Usage]()
    lease = lease_one(away, job.id)
    writer = CheckpointWriter(away, job.id, worker="w", after=told.extend)
    attempt = await writer.open(lease)
    trace = trace_of("reply")
    attempt.trial.begin(trace, FakeToolbox(), prompt=[], agent="a")  # type: ignore[arg-type]
    away.is_away = True
    await attempt.trial.keep(lambda: b"\x90", after="gather")
    assert (attempt.lease_now().counted, told) == (NO_USAGE, [])
    away.is_away = False
    trace.steps += trace_of("reply").steps
    await attempt.trial.keep(lambda: b"\x91", after="gather")
    assert attempt.lease_now().counted == Usage(1.0, 14)
    assert (told, counted(away, job.id)) == ([Usage(1.0, 14)], (1.0, 14))


class FakeToolbox:
    schemas = ()

    def skip(self) -> None:
        pass


async def test_an_attempt_that_has_ended_needs_no_garbage_collector(store: Store) -> None:
    job = create(store, 1)
    attempt = await CheckpointWriter(store, job.id, worker="w", after=lambda _: None).open(
        lease_one(store, job.id)
    )
    ended, watched = await attempt.end(), weakref.ref(attempt)
    assert ended.counted == NO_USAGE
    gc.disable()
    try:
        del attempt
        assert watched() is None
    finally:
        gc.enable()


async def test_an_attempt_that_begins_anew_counts_all_it_spends(store: Store, clock: Clock) -> None:
    job, told = create(store, 1), list[Usage]()
    writer = CheckpointWriter(store, job.id, worker="w", after=told.extend)
    first = await writer.open(lease_one(store, job.id))
    first.trial.begin(trace_of("reply"), FakeToolbox(), prompt=[], agent="a")  # type: ignore[arg-type]
    await first.trial.keep(lambda: b"\x90", after="gather")
    second = await writer.open(again(store, clock, job.id))
    assert second.lease_now().counted == NO_USAGE  # nothing of the first is in its trace yet
    trace = Trace()
    second.trial.begin(trace, FakeToolbox(), prompt=[], agent="a")  # type: ignore[arg-type]
    assert second.lease_now().counted == Usage(0.5, 7)
    second.trial.begin_anew("for a reason")
    assert ([step.kind for step in trace.steps], second.lease_now().counted) == (["note"], NO_USAGE)


async def test_a_trial_whose_workers_died_with_it_begins_anew(store: Store, clock: Clock) -> None:
    job = create(store, 1, arms=[{"name": "raw", "agent": "direct"}])
    writer = CheckpointWriter(store, job.id, worker="w", after=lambda _: None)
    lease = lease_one(store, job.id)
    store.save_checkpoints(job.id, [NewCheckpoint(lease, saved_trial().to_bytes() or b"", NO_USAGE)])
    for _ in range(ISOLATE_AFTER):
        clock.now_s += TTL_S + 1
        store.sweep()
        isolated = store.has_poison_suspects(job.id, 0)
        lease = store.lease(job.id, 0, worker="w", ttl_s=TTL_S, isolated=isolated)[0]
    attempt = await writer.open(lease)
    assert attempt.trial._saved is None


REQUEST = {
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Kiasma", "Ateneum"],
}
FIND = {"tool_calls": [{"name": "find_place", "arguments": {"name": "Kiasma"}}]}
EARLY = json.dumps({"days": [{"visits": [{"place": "Kiasma", "arrive": "09:00", "leave": "09:10"}]}]})
SLOW = {
    "id": "scripted",
    "options": {
        "replies": [FIND, FIND, FIND, FIND, EARLY],
        "delay_s": 0.4,
        "usd": 0.25,
        "prompt_tokens": 10,
        "completion_tokens": 2,
    },
}
ARM = {"agent": "planner", "tools": ["find_place", "check_plan"], "max_tool_calls": 20}


def post_trips(plant: Plant) -> JobRecord:
    """One request, planned by two agents."""
    arms = [{"name": name, **ARM, "agent": name} for name in ("planner", "react")]
    given = {"benchmark": "itinerary", "select": {"request": REQUEST}, "models": [SLOW], "arms": arms}
    spec = parse_spec({**given, "preflight": False, "cache": False}, agents=AGENTS.names())
    media = MediaStore(plant.folder / "media")
    samples = spec.plugin().open(data=None, select=spec.select, protocol=spec.protocol, media=media)
    job = plant.store.create_job(spec, samples.refs)
    enqueue_shards(plant.redis, job, range(job.shards))
    return job


def post_paths(plant: Plant) -> JobRecord:
    """One question, with two arms of the same agent, which calls a tool four times."""
    call = {"tool_calls": [{"name": "describe_path", "arguments": {"points": [[0, 0], [10, 0]]}}]}
    model = {"id": "scripted", "options": {**SLOW["options"], "replies": [call, call, call, call, "A"]}}
    arms = [{"name": name, "agent": "react", "tools": ["describe_path"]} for name in ("one", "other")]
    return plant.post(1, models=[model], arms=arms, cache=False)


OF_PATHS = (post_paths, TINY_WORKER)
# Each process reads a city. That a plan goes on from each of its checkpoints tests/agents shows.
OF_TRIPS = pytest.param(post_trips, "gnomon_workers.__main__", marks=pytest.mark.soak)


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("post", "module"), [OF_PATHS, OF_TRIPS])
def test_another_worker_goes_on_in_the_middle(
    plant: Plant, post: Callable[[Plant], JobRecord], module: str
) -> None:
    """Its leases hold while it reads a city, beside whatever else runs."""
    patient = replace(plant, clocks={**QUICK, "GNOMON_LEASE_SECONDS": "6"})
    plant.start(0)
    patient.start_module("first", module, "--data-dir", str(plant.folder))
    undisturbed = plant.end_of(post(plant))
    job = post(plant)
    wait_until(lambda: how_many(plant.store) == 2 and plant.store.job(job.id).known_usd >= 1.0)
    worker = plant.supervisor.pids()["first"]
    for pid in [*children_of(worker), worker]:
        os.kill(pid, signal.SIGKILL)
    assert plant.store.job(job.id).counts.done == 0
    patient.start_module("second", module, "--data-dir", str(plant.folder))
    plant.end_of(job)
    rows = {row.arm: row for row in plant.store.iter_rows(job.id)}
    for whole in plant.store.iter_rows(undisturbed.id):
        row, trace = rows[whole.arm], plant.store.trial(rows[whole.arm].trial_id).trace
        assert trace is not None
        notes = [step["text"] for step in trace["steps"] if step["kind"] == "note"]
        assert any(note.startswith("resumed after") for note in notes)
        same = ("answer", "score", "model_calls", "tool_calls", "usd", "prompt_tokens", "outcome")
        assert {name: getattr(row, name) for name in same} == {name: getattr(whole, name) for name in same}
        assert (row.attempt, whole.attempt) == (2, 1)
    assert plant.store.job(job.id).known_usd == plant.store.job(undisturbed.id).known_usd
    assert plant.store.job(job.id).known_tokens == plant.store.job(undisturbed.id).known_tokens
    assert how_many(plant.store) == 0


def test_a_trial_that_is_given_back_is_charged_for_once(plant: Plant) -> None:
    plant.start(1)
    job = post_paths(plant)
    wait_until(lambda: how_many(plant.store) == 2 and plant.store.job(job.id).known_usd >= 1.0)
    plant.supervisor.stop()
    assert plant.store.job(job.id).counts.running == 0
    plant.start(1)
    plant.end_of(job)
    rows = list(plant.store.iter_rows(job.id))
    assert {row.attempt for row in rows} == {1}
    known, calls = plant.store.job(job.id), sum(row.model_calls or 0 for row in rows)
    assert sum(row.usd or 0.0 for row in rows) == calls * 0.25
    # A call whose reply came as the worker stopped is in no checkpoint: made again, it is paid again. Each of
    # the two trials has one at most, and four calls at least were in checkpoints.
    paid_again = (known.known_usd - calls * 0.25, known.known_tokens - calls * 12)
    assert paid_again in {(more * 0.25, more * 12) for more in range(3)}
