"""What may travel through Redis, and what a worker does with anything else."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq.exceptions import NoSuchJobError
from rq.job import JobStatus
from rq.serializers import JSONSerializer

from gnomon_workers.message import SHARD_FUNCTION, RefusedMessage, ShardMessage
from gnomon_workers.queue import (
    enqueue_shards,
    message_id,
    open_queue,
    pop_next_shard,
    queue_name,
    queue_names,
    waiting_ids,
)
from gnomon_workers.settings import Timing
from gnomon_workers.store import Store
from gnomon_workers.sweeper import Sweeper
from tests.workers.conftest import Clock, Plant, create, wait_until

QUEUE = queue_name("default", "normal")


def forge(redis: Redis, message: str, data: list[Any] | bytes, **fields: str) -> ShardMessage:
    """Put a message on the queue as somebody with access to Redis could."""
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    redis.hset(f"rq:job:{message}", mapping={"data": zlib.compress(body), "status": "queued", **fields})
    redis.rpush(f"rq:queue:{QUEUE}", message)
    return ShardMessage.fetch(message, connection=redis, serializer=JSONSerializer)


def test_every_shard_is_queued_by_its_two_ids_alone(redis: Redis, store: Store) -> None:
    job = create(store, queue="big", priority="high")
    assert enqueue_shards(redis, job, range(job.shards)) == job.shards == 2
    name = queue_name("big", "high")
    assert waiting_ids(redis, name) == {message_id(job.id, shard) for shard in range(2)}
    message = open_queue(redis, name).jobs[0]
    assert isinstance(message, ShardMessage)
    assert message.shard() == (job.id, 0)
    assert json.loads(message.data) == [SHARD_FUNCTION, None, [job.id, 0], {}]
    assert (message.timeout, message.result_ttl) == (-1, 0)


def test_a_shard_that_was_queued_under_the_earlier_name_is_run(redis: Redis) -> None:
    message = ShardMessage.create("workers.shard.run_shard", args=["j", 3], connection=redis)
    assert message.shard() == ("j", 3)


def test_urgent_queues_come_before_all_others() -> None:
    assert queue_names(["a", "b"])[:3] == ["gnomon.a.high", "gnomon.b.high", "gnomon.a.normal"]


def test_a_process_may_take_the_next_shard_of_its_job_and_no_other(
    redis: Redis, redis_url: str, store: Store
) -> None:
    names = queue_names(["default"])
    mine, other = create(store), create(store)
    for job in (mine, other):
        enqueue_shards(redis, job, range(job.shards))
    assert pop_next_shard(redis_url, names, other.id) is None  # it is not its turn
    assert [pop_next_shard(redis_url, names, mine.id) for _ in range(3)] == [0, 1, None]
    assert redis.exists(f"rq:job:{message_id(mine.id, 0)}") == 0
    urgent = create(store, priority="high")
    enqueue_shards(redis, urgent, [0])
    assert pop_next_shard(redis_url, names, other.id) is None
    assert pop_next_shard(redis_url, names, urgent.id) == 0
    assert pop_next_shard(redis_url, names, other.id) == 0


def test_a_process_goes_on_with_nothing_while_redis_is_away_or_holds_rubbish(
    redis: Redis, redis_url: str
) -> None:
    assert pop_next_shard("redis://127.0.0.1:1/0", [QUEUE], "j") is None
    redis.rpush(f"rq:queue:{QUEUE}", "j-1; drop")
    assert pop_next_shard(redis_url, [QUEUE], "j") is None


@pytest.mark.parametrize(
    "data",
    [
        ["subprocess.check_call", None, [["true"]], {}],
        [SHARD_FUNCTION, None, ["j", 0, 1], {}],
        [SHARD_FUNCTION, None, ["j", True], {}],
        [SHARD_FUNCTION, None, ["j", 0], {"context": 1}],
        [SHARD_FUNCTION, "os", ["j", 0], {}],
        b"\x80\x04\x95",
    ],
)
def test_a_message_that_is_no_shard_is_refused(redis: Redis, data: list[Any] | bytes) -> None:
    message = forge(redis, "forged", data)
    message.runner = lambda _job, _shard: pytest.fail("it ran")
    with pytest.raises(RefusedMessage):
        message.perform()


def test_a_message_that_redis_forgot_while_its_shard_ran_is_no_failure(redis: Redis) -> None:
    message = forge(redis, "forged", [SHARD_FUNCTION, None, ["j", 0], {}], status="started")
    assert message.get_status() == JobStatus.STARTED
    redis.delete(message.key)  # a double of it was taken off the queue
    message._status = JobStatus.FINISHED  # as RQ sets it after the shard
    message.cleanup(0, remove_from_queue=False)  # raised InvalidJobOperation, and RQ logged a failure
    assert message.get_status() == JobStatus.FINISHED


def test_a_message_brings_no_callbacks_hooks_or_repetitions(redis: Redis) -> None:
    message = forge(
        redis,
        "forged",
        [SHARD_FUNCTION, None, ["j", 0], {}],
        success_callback_name="os.abort",
        failure_callback_name="os.abort",
        stopped_callback_name="os.abort",
        retries_left="3",
        repeats_left="3",
    )
    assert message.success_callback is message.failure_callback is message.stopped_callback is None
    assert (message.webhooks, message.retries_left, message.repeats_left) == ([], None, None)


def test_a_worker_survives_forged_messages_and_runs_none(two_workers: Plant, tmp_path: Path) -> None:
    mark, redis = tmp_path / "mark", two_workers.redis
    for number in range(4):  # more than there are workers
        touch = ["pathlib.Path.touch", None, [str(mark)], {}]
        forge(redis, f"forged-{number}", touch, failure_callback_name="os.abort")
    forge(redis, "pickled", b"\x80\x04\x95")
    assert two_workers.end_of(two_workers.post(1)).counts.scored == 2
    assert not mark.exists()


def test_the_sweeper_queues_what_it_has_missed_twice_and_only_once(redis: Redis, store: Store) -> None:
    job = create(store)
    sweeper = Sweeper(store, redis, timing=Timing())
    assert [sweeper.sweep() for _ in range(3)] == [0, job.shards, 0]
    redis.flushall()
    assert [sweeper.sweep() for _ in range(3)] == [0, job.shards, 0]


def test_the_sweeper_queues_at_once_and_first_what_it_takes_back_from_the_dead(
    redis: Redis, store: Store, clock: Clock
) -> None:
    waiting, dead = create(store, 1), create(store, 1)
    enqueue_shards(redis, waiting, range(waiting.shards))
    store.lease(dead.id, 0, worker="w", ttl_s=10, limit=2)
    clock.now_s += 11
    assert Sweeper(store, redis, timing=Timing()).sweep() == 1
    assert open_queue(redis, QUEUE).job_ids[0] == message_id(dead.id, 0)


def test_the_sweeper_leaves_alone_what_runs_or_has_ended(redis: Redis, store: Store) -> None:
    job, cancelled = create(store, 1), create(store, 1)
    store.lease(job.id, 0, worker="w", ttl_s=10, limit=1)
    store.cancel(cancelled.id)
    sweeper = Sweeper(store, redis, timing=Timing())
    assert [sweeper.sweep() for _ in range(3)] == [0, 0, 0]


def test_a_doubled_message_runs_nothing_twice(two_workers: Plant) -> None:
    paid = [{"id": "scripted", "options": {"replies": ["A"], "usd": 0.25}}]
    job = create(two_workers.store, 2, models=paid, concurrency=1)
    for _ in range(4):
        enqueue_shards(two_workers.redis, job, range(job.shards))
    job = two_workers.end_of(job)
    assert (job.counts.scored, job.counts.planned, job.usd) == (4, 4, 1.0)
    assert {row.attempt for row in two_workers.store.iter_rows(job.id)} == {1}


def test_a_message_is_gone_once_its_shard_has_run(two_workers: Plant) -> None:
    job = two_workers.end_of(two_workers.post(1))

    def is_gone() -> bool:
        try:
            ShardMessage.fetch(message_id(job.id, 0), connection=two_workers.redis, serializer=JSONSerializer)
        except NoSuchJobError:
            return True
        return False

    wait_until(is_gone)
