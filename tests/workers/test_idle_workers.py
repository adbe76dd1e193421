"""What a worker shows of itself while it has nothing to run."""

from pathlib import Path

from redis import Redis

from gnomon_workers.message import ShardMessage
from gnomon_workers.queue import enqueue_shards, mark_resting, message_id, open_queue, queue_names
from gnomon_workers.store import Store
from gnomon_workers.worker import ShardWorker
from tests.workers.conftest import create
from tests.workers.tiny_worker import context_of, load_nothing


def test_a_worker_that_drops_a_shard_of_a_resting_job_is_idle(
    real_store: Store, redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    job = create(real_store, 1)
    enqueue_shards(redis, job, [0])
    queue = open_queue(redis, queue_names(["default"])[1])
    message = queue.fetch_job(message_id(job.id, 0))
    assert isinstance(message, ShardMessage)
    mark_resting(redis_url, job.id)
    context = context_of(real_store, tmp_path, redis_url=redis_url)
    worker = ShardWorker(("default",), redis=redis, context=context, preload=load_nothing)
    worker.execute_job(message, queue)
    worker.heartbeat()
    assert [(one.state, one.shard) for one in real_store.workers()] == [("idle", None)]
    assert queue.fetch_job(message_id(job.id, 0)) is None
