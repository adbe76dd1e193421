"""Route with counts for Prometheus, in its text format (version 0.0.4)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import get_args

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from redis import Redis, RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from gnomon.core.score import Outcome
from gnomon_service.api.state import Shared
from gnomon_workers.durations import BOUNDS_S, CALL, QUEUE, TRIAL, Histogram, read_durations
from gnomon_workers.rate_limit.redis_limiter import PREFIX
from gnomon_workers.store.records import JobStatus

STATUSES = get_args(JobStatus)
OUTCOMES = tuple(Outcome)
HISTOGRAMS = {
    CALL: (
        "gnomon_provider_call_seconds",
        "Calls of models; result is reply, or the cause of a fault.",
        ("model", "result"),
    ),
    TRIAL: ("gnomon_trial_seconds", "Trials, from their start to their end, by outcome.", ("outcome",)),
    QUEUE: ("gnomon_queue_wait_seconds", "Shards, from being queued to being taken.", ("queue",)),
}

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
            *_histograms(state.redis),
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


def _histograms(redis: Redis) -> Iterator[str]:
    """How long calls, trials and waits took. They begin at 0 where Redis has lost them, as counters may."""
    try:
        found = read_durations(redis)
    except RedisError:
        return
    for what, (name, about, labels) in HISTOGRAMS.items():
        yield f"# HELP {name} {about}\n# TYPE {name} histogram\n"
        for (kind, *values), histogram in found.items():
            if kind == what:
                pairs = zip(labels, values, strict=True)
                yield from _buckets(
                    name, [f'{label}="{_escaped(value)}"' for label, value in pairs], histogram
                )


def _buckets(name: str, pairs: Sequence[str], histogram: Histogram) -> Iterator[str]:
    sums = list(accumulate(histogram.counts))
    for bound, count in zip((*(f"{bound:g}" for bound in BOUNDS_S), "+Inf"), sums, strict=True):
        labels = ",".join([*pairs, f'le="{bound}"'])
        yield f"{name}_bucket{{{labels}}} {count}\n"
    yield f"{name}_sum{{{','.join(pairs)}}} {histogram.total_s:.12g}\n"
    yield f"{name}_count{{{','.join(pairs)}}} {sums[-1]}\n"


def _total(name: str, about: str, value: float) -> str:
    return f"# HELP {name} {about}\n# TYPE {name} gauge\n{name} {value:.12g}\n"


def _gauge(name: str, about: str, label: str, values: Mapping[str, int]) -> str:
    lines = [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
    lines += [f'{name}{{{label}="{_escaped(key)}"}} {value}' for key, value in sorted(values.items())]
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
