"""Route of metrics: counts for Prometheus, in its text format (version 0.0.4)."""

from collections import Counter
from collections.abc import Mapping
from typing import get_args

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from gnomon.outcome import Outcome
from service.api.state import Shared
from workers.store.records import JobStatus

STATUSES = get_args(JobStatus)
OUTCOMES = tuple(Outcome)

router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(state: Shared) -> PlainTextResponse:
    """Jobs by status, trials by outcome, shards that wait by queue, workers by state."""
    store = state.store
    jobs = dict.fromkeys(STATUSES, 0) | store.count_jobs()
    trials = dict.fromkeys(OUTCOMES, 0) | store.count_outcomes()
    states = Counter(worker.state for worker in store.workers())
    text = "".join(
        (
            _gauge("gnomon_jobs", "Jobs by status.", "status", jobs),
            _gauge("gnomon_trials", "Finished trials by outcome.", "outcome", trials),
            _gauge("gnomon_workers", "Workers by state.", "state", states),
            _gauge("gnomon_queue_shards", "Shards that wait, by queue.", "queue", _depths(state.redis)),
        )
    )
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _depths(redis: Redis) -> Mapping[str, int]:
    try:
        queues = Queue.all(connection=redis, serializer=JSONSerializer)
        return {queue.name: queue.count for queue in queues}
    except RedisError:
        return {}  # readiness tells of it; the other counts still hold


def _gauge(name: str, about: str, label: str, values: Mapping[str, int]) -> str:
    lines = [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
    lines += [f'{name}{{{label}="{_escaped(key)}"}} {value}' for key, value in sorted(values.items())]
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
