"""Queues the shards that wait for a worker. All that Redis holds can be built again from the store."""

import datetime as dt
import logging
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import cast

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from gnomon_workers.message import SHARD_FUNCTION, ShardMessage
from gnomon_workers.redis_url import redis_at
from gnomon_workers.store.records import JobRecord

PRIORITIES = ("high", "normal", "low")
REDIS_TIMEOUT_S = 5.0
FAILURE_TTL_S = 3_600
ENQUEUE_BATCH = 2_000
log = logging.getLogger(__name__)
# The shard of the first message of the first queue that has one, if it begins with ARGV[1].
TAKE_NEXT = """
for _, queue in ipairs(KEYS) do
  local message = redis.call('LINDEX', queue, 0)
  if message then
    local shard = string.match(string.sub(message, #ARGV[1] + 1), '^%d+$')
    if string.sub(message, 1, #ARGV[1]) ~= ARGV[1] or not shard then return false end
    redis.call('LPOP', queue)
    redis.call('DEL', ARGV[2] .. message)
    return shard
  end
end
return false
"""
RESTING_PREFIX, RESTING_S = "gnomon:resting:", 10  # a job that says nothing for so long rests no more
NO_TIMEOUT = -1  # a shard takes what its trials take; leases, not RQ, tell who is dead


def client_of(url: str) -> Redis:
    """A client that gives up soon: callers wait for it, and the sweeper makes good what failed."""
    return redis_at(
        url,
        socket_timeout=REDIS_TIMEOUT_S,
        socket_connect_timeout=REDIS_TIMEOUT_S,
        retry=Retry(NoBackoff(), retries=1),
    )


def queue_name(queue: str, priority: str) -> str:
    """What RQ calls a queue.

    >>> queue_name("default", "high")
    'gnomon.default.high'
    """
    return f"gnomon.{queue}.{priority}"


def queue_names(queues: Sequence[str]) -> list[str]:
    """The RQ queues a worker listens to, most urgent first."""
    return [queue_name(queue, priority) for priority in PRIORITIES for queue in queues]


def message_id(job_id: str, shard: int) -> str:
    """The same for the same shard, so that queuing it twice is harmless."""
    return f"{job_id}-{shard}"


def open_queue(redis: Redis, name: str) -> Queue:
    """The RQ queue of that name, which reads and writes JSON only."""
    return Queue(name, connection=redis, job_class=ShardMessage, serializer=JSONSerializer)


def enqueue_shards(redis: Redis, job: JobRecord, shards: Iterable[int]) -> int:
    """Queue these shards of the job; return how many.

    Raises:
        redis.RedisError: the queue cannot be reached.
    """
    name = queue_name(job.spec.queue, job.spec.priority)
    return enqueue(redis, name, ((job.id, shard) for shard in shards), first=())


def enqueue(
    redis: Redis, name: str, shards: Iterable[tuple[str, int]], *, first: Collection[tuple[str, int]]
) -> int:
    """Put shards of any jobs into the queue of that name, those that are `first` before all that wait; return
    how many. Only the two ids travel, ENQUEUE_BATCH shards in one go.

    Raises:
        redis.RedisError: the queue cannot be reached.
    """
    queue, count, waiting = open_queue(redis, name), 0, iter(shards)
    while batch := list(islice(waiting, ENQUEUE_BATCH)):
        queue.enqueue_many(
            [
                Queue.prepare_data(
                    SHARD_FUNCTION,
                    args=[job_id, shard],
                    timeout=NO_TIMEOUT,
                    result_ttl=0,
                    failure_ttl=FAILURE_TTL_S,
                    description=f"{job_id} shard {shard}",
                    job_id=message_id(job_id, shard),
                    at_front=(job_id, shard) in first,
                )
                for job_id, shard in batch
            ]
        )
        count += len(batch)
    return count


def pop_next_shard(url: str, names: Sequence[str], job_id: str) -> int | None:
    """Take the message that a worker of these queues would be given next, if it is of this job: its shard.

    None where the queues are empty, another job is next, or Redis does not answer. Should the taker die, the
    sweeper queues the shard again.
    """
    try:
        with closing(client_of(url)) as redis:
            keys = [_key(name) for name in names]
            taken = redis.eval(TAKE_NEXT, len(keys), *keys, f"{job_id}-", Job.redis_job_namespace_prefix)
    except RedisError as error:
        log.warning("the queue does not say which shard is next: %s", error)
        return None
    return None if taken is None else int(cast(bytes, taken))


def mark_resting(url: str, job_id: str) -> None:
    """For RESTING_S seconds no worker need begin a shard of this job: all that it asks are waited for."""
    try:
        with closing(client_of(url)) as redis:
            redis.set(RESTING_PREFIX + job_id, "1", ex=RESTING_S)
    except RedisError as error:
        log.warning("that job %s rests is not written to the queue: %s", job_id, error)


def resting_jobs(redis: Redis, job_ids: Sequence[str]) -> set[str]:
    """Those of the jobs that rest.

    Raises:
        redis.RedisError: the queue cannot be reached.
    """
    if not job_ids:
        return set()
    marks = cast(list[bytes | None], redis.mget([RESTING_PREFIX + job_id for job_id in job_ids]))
    return {job_id for job_id, mark in zip(job_ids, marks, strict=True) if mark is not None}


def waiting_ids(redis: Redis, name: str) -> set[str]:
    """Ids of the messages that wait in the queue."""
    messages = cast(list[bytes], redis.lrange(_key(name), 0, -1))
    return {message.decode() for message in messages}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """A queue: how many messages wait in it, and since when the oldest does, in seconds since 1970."""

    name: str
    waiting: int
    oldest_s: float | None


def queue_states(redis: Redis) -> list[QueueState]:
    """All queues that there are, by name.

    Raises:
        redis.RedisError: the queues cannot be reached.
    """
    names = sorted(queue.name for queue in Queue.all(connection=redis, serializer=JSONSerializer))
    return [_state_of(redis, name) for name in names]


def _state_of(redis: Redis, name: str) -> QueueState:
    waiting = redis.llen(_key(name))
    # Those that were queued at the front may be younger than the last one.
    ends = {message for at in (0, -1) for message in cast(list[bytes], redis.lrange(_key(name), at, at))}
    since = [_queued_s(redis, message.decode()) for message in ends]
    return QueueState(
        name=name, waiting=waiting, oldest_s=min((when for when in since if when is not None), default=None)
    )


def _queued_s(redis: Redis, message: str) -> float | None:
    text = redis.hget(Job.redis_job_namespace_prefix + message, "enqueued_at")
    return None if text is None else dt.datetime.fromisoformat(cast(bytes, text).decode()).timestamp()


def _key(name: str) -> str:
    return f"{Queue.redis_queue_namespace_prefix}{name}"
