"""Route with counts for Prometheus, in its text format (version 0.0.4)."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import get_args

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from gnomon.core.score import Outcome
from gnomon_service.api.state import Shared
from gnomon_workers.rate_limit.redis_limiter import PREFIX
from gnomon_workers.store.records import JobStatus

STATUSES = get_args(JobStatus)
OUTCOMES = tuple(Outcome)

router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(state: Shared) -> PlainTextResponse:
    """Jobs, trials, leases, spending, workers, waiting shards, and calls that rate limits delayed."""
    store = state.store
    jobs = dict.fromkeys(STATUSES, 0) | store.count_jobs()
    trials = dict.fromkeys(OUTCOMES, 0) | store.count_outcomes()
    totals = store.totals()
    states = Counter(worker.state for worker in store.workers())
    text = "".join(
        (
            _gauge("gnomon_jobs", "Jobs by status.", "status", jobs),
            _gauge("gnomon_trials", "Finished trials by outcome.", "outcome", trials),
            _gauge("gnomon_workers", "Workers by state.", "state", states),
            _gauge("gnomon_queue_shards", "Waiting shards, by queue.", "queue", _depths(state.redis)),
            _total("gnomon_leases", "Trials in workers' hands: running, or next.", totals["leased"]),
            _total("gnomon_usd_known", "Dollars spent, as far as prices are known.", totals["known_usd"]),
            _total(
                "gnomon_usd_possible", "Dollars that calls may have cost besides.", totals["possible_usd"]
            ),
            _total("gnomon_tokens_possible", "Tokens used at most besides.", totals["possible_tokens"]),
            _total("gnomon_usd_unknown", "Results whose price is unknown.", totals["unknown_usd"]),
            _total(
                "gnomon_tokens_known", "Tokens used, as far as providers report them.", totals["known_tokens"]
            ),
            _total("gnomon_tokens_unknown", "Results whose tokens are unknown.", totals["unknown_tokens"]),
            *(
                _gauge(f"gnomon_limit_{what}", f"Calls {what} within the last hours, by key.", "key", calls)
                for what, calls in _calls(state.redis).items()
            ),
        )
    )
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _depths(redis: Redis) -> Mapping[str, int]:
    try:
        queues = Queue.all(connection=redis, serializer=JSONSerializer)
        return {queue.name: queue.count for queue in queues}
    except RedisError:
        return {}  # /readyz reports it; the other counts are still right


def _calls(redis: Redis) -> dict[str, dict[str, int]]:
    """Outcomes of calls that asked the rate limiter for a permit, by key."""
    calls: dict[str, dict[str, int]] = {outcome: {} for outcome in ("granted", "put_off", "throttled")}
    with suppress(RedisError):
        for name in redis.scan_iter(match=f"{PREFIX}:*:state"):
            key = name.decode().removeprefix(f"{PREFIX}:").removesuffix(":state").strip("{}")
            for outcome, counts in calls.items():
                counts[key] = int(redis.hget(name, outcome) or 0)
    return calls


def _total(name: str, about: str, value: float) -> str:
    return f"# HELP {name} {about}\n# TYPE {name} gauge\n{name} {value:.12g}\n"


def _gauge(name: str, about: str, label: str, values: Mapping[str, int]) -> str:
    lines = [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
    lines += [f'{name}{{{label}="{_escaped(key)}"}} {value}' for key, value in sorted(values.items())]
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
