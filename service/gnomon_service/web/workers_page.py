"""The page of the machinery: is it healthy, what waits, what runs, and what failed last."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from redis import RedisError
from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.errors import GnomonError
from gnomon.core.missing import said_in_short
from gnomon.report.text_formats import count
from gnomon_service.api.state import Shared, State
from gnomon_service.web.job_rows import cause_text, rate_text
from gnomon_service.web.page_memory import TOTAL_RATE_S
from gnomon_service.web.pages import View, page
from gnomon_service.web.time_text import ago, seconds_of, seconds_text
from gnomon_workers.queue import queue_states
from gnomon_workers.rate_limit.redis_limiter import key_states
from gnomon_workers.store.records import JobDigest

SHOWN = 20  # causes
LOOKED_AT = 500  # newest jobs
OLD_S = 60.0  # a message that waits for longer says that workers are too few, or none
POLL_S = 5

router = APIRouter(include_in_schema=False)


@page(router, "/ui/workers", "workers.html.j2", is_cheap=True)
def workers(state: Shared) -> View:
    """Workers, queues, rates, and the causes of the last missing trials."""
    now_s = time.time()
    redis_answer, store_answer = _answer(lambda: state.redis.ping() and "answers"), _answer(state.store.ping)
    parts = {
        "redis": redis_answer,
        "database": store_answer,
        **(_of_redis(state, now_s=now_s) if redis_answer["is_well"] else {"queues": [], "keys": []}),
        **(_of_store(state, now_s=now_s) if store_answer["is_well"] else _NOTHING),
    }
    problems = _problems(parts)
    return {
        "title": "Workers",
        "answer": " ".join(problems) or _well(parts),
        "is_healthy": not problems,
        "poll_s": POLL_S,
        **parts,
    }


_NOTHING: dict[str, Any] = {
    "workers": [],
    "in_hand": 0,
    "open_trials": 0,
    "per_second": None,
    "rate": "",
    "stopped": [],
    "causes": [],
}


def _answer(ask: Callable[[], object]) -> dict[str, Any]:
    """Whether a server answers, how fast, and its version or the kind of error; no addresses or keys."""
    began_s = time.monotonic()
    try:
        said = ask()
    except (RedisError, SQLAlchemyError, GnomonError, OSError) as error:
        return {"is_well": False, "said": type(error).__name__, "took_ms": None}
    return {"is_well": True, "said": str(said), "took_ms": round(1_000 * (time.monotonic() - began_s), 1)}


def _of_redis(state: State, *, now_s: float) -> dict[str, Any]:
    try:
        queues, keys = queue_states(state.redis), key_states(state.redis)
    except RedisError:
        return {"queues": [], "keys": []}
    return {
        "queues": [
            {
                "name": queue.name,
                "waiting": queue.waiting,
                "age_s": None if queue.oldest_s is None else max(0.0, now_s - queue.oldest_s),
                "age": "" if queue.oldest_s is None else seconds_text(now_s - queue.oldest_s),
            }
            for queue in queues
        ],
        "keys": [
            {**asdict(key), "pause": seconds_text(left_s) if left_s > 0 else ""}
            for key in keys
            for left_s in [(key.paused_until_s or 0.0) - now_s]
        ],
    }


def _of_store(state: State, *, now_s: float) -> dict[str, Any]:
    store = state.store
    digests = store.digests(limit=LOOKED_AT)
    names = {job.id: job.name for job in digests}
    per_second = _per_second(state, digests, now_s=now_s)
    records = [(worker, (worker.shard or "").partition("/")) for worker in store.workers()]
    return {
        "workers": [
            {
                **asdict(worker),
                "job": job_id,
                "job_name": names.get(job_id, job_id),
                "shard": shard,
                "seen": ago(now_s - seconds_of(worker.seen_at)),
            }
            for worker, (job_id, _, shard) in records
        ],
        "in_hand": int(store.totals()["leased"]),
        "open_trials": sum(job.planned - job.processed for job in digests if job.is_open),
        "per_second": per_second,
        "rate": rate_text(per_second) if per_second else "none",
        "stopped": [
            {
                "job": stopped.job_id,
                "job_name": stopped.job_name,
                "model": stopped.model,
                "cause": cause_text(stopped.cause),
                "said": said_in_short(stopped.error) if stopped.error else "",
            }
            for stopped in store.stopped_models(limit=SHOWN)
        ],
        "causes": _causes(state, digests),
    }


def _per_second(state: State, digests: Sequence[JobDigest], *, now_s: float) -> float:
    """Trials that ended, per second, over the last quarter of an hour: as was looked on; else each job's
    share of its own time.
    """
    ended = sum(state.store.count_outcomes().values())
    measured = state.memory.total_rates.per_second("all", ended)
    if measured is not None:
        return measured
    since_s, trials = now_s - TOTAL_RATE_S, 0.0
    for job in digests:
        until_s = now_s if job.finished_s is None else job.finished_s
        took_s = max(1.0, until_s - job.created_s)
        trials += job.processed * max(0.0, until_s - max(since_s, job.created_s)) / took_s
    return trials / TOTAL_RATE_S


def _causes(state: State, digests: Sequence[JobDigest]) -> list[dict[str, Any]]:
    losing = [job for job in digests if job.infra_missing][:SHOWN]
    missing = state.memory.missing(losing)
    return [
        {
            "job": job.id,
            "job_name": job.name,
            "cause": cause_text(cause.cause),
            "trials": cause.trials,
            "said": said_in_short(cause.error) if cause.error else "",
            "trial": cause.trial_id,
        }
        for job in losing
        for cause in missing[job.id]
    ][:SHOWN]


def _problems(parts: dict[str, Any]) -> list[str]:
    """What is wrong, in sentences."""
    problems = []
    if not parts["redis"]["is_well"]:
        problems.append(f"Redis does not answer ({parts['redis']['said']}): nothing is queued or begun.")
    if not parts["database"]["is_well"]:
        problems.append(f"The database does not answer ({parts['database']['said']}).")
    elif parts["open_trials"] and not parts["workers"]:
        waiting = count(parts["open_trials"], "trial")
        problems.append(f"No worker answers, and {waiting} of open jobs wait for one.")
    oldest = max((queue["age_s"] or 0.0 for queue in parts["queues"]), default=0.0)
    if parts["workers"] and oldest > OLD_S:
        problems.append(f"The oldest message waits for {seconds_text(oldest)}: there are too few workers.")
    return problems


def _well(parts: dict[str, Any]) -> str:
    waiting = sum(queue["waiting"] for queue in parts["queues"])
    busy = sum(worker["state"] == "busy" for worker in parts["workers"])
    waits = f"{count(waiting, 'message')} waiting" if waiting else "nothing waits"
    return f"Healthy: {count(len(parts['workers']), 'worker')}, {busy} busy; {waits}."
