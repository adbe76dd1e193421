"""Asks Redis for permits of one provider key: each request is a single atomic script."""

import json
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from typing import cast

import redis
from redis.asyncio import Redis
from redis.exceptions import NoScriptError

from gnomon.spec.model_spec import Rate
from gnomon_workers.rate_limit.prefetch import PREFETCH_S

PREFIX = "gnomon:limit"
LEASE_S = 15.0  # a process that is silent for so long has nothing in flight any more
# Calls that a job may be ahead of its fair share: the one that comes next need not be here this moment.
FAIRNESS_SLACK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A flow of fair queueing: jobs share by weight, and those of one queue share what the queue gets."""

    job: str
    queue: str
    weight: int


@dataclass(slots=True, kw_only=True)
class SyncRequest:
    """What a process has to report, and the tokens of each call that it asks a permit for."""

    in_flight: int = 0
    costs: list[int] = field(default_factory=list)
    answered: int = 0
    throttled: int = 0
    retry_after_s: float = 0.0
    token_error: int = 0  # tokens that finished calls have used beyond what they had asked for
    prefetch: int = 0  # permits that are asked for in advance, of `prefetch_cost` tokens each
    prefetch_cost: int = 0
    unused: int = 0  # permits that had been prefetched, and that no call took
    asks_anew: bool = False  # its calls go though the provider asked to wait: it may have changed its mind
    has_asked_anew: bool = False  # such a call was answered, whatever was said


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """How many of the calls may go now, and when to ask again for the rest; `cap` is 0 where none is set.

    `prefetched` calls more may go within PREFETCH_S: only where nothing is short.
    """

    granted: int
    wait_s: float
    cap: int
    prefetched: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """What the account of a provider key says: calls that were let go, put off and throttled, how many may be
    in flight (None: no limit), and until when none goes, in seconds since 1970.
    """

    endpoint: str  # without what tells keys apart
    granted: int
    put_off: int
    throttled: int
    cap: int | None
    paused_until_s: float | None


def key_states(client: redis.Redis) -> list[KeyState]:
    """The accounts of all keys that were used in the last hours, by endpoint.

    Raises:
        redis.RedisError: Redis does not answer.
    """
    states = []
    for name in client.scan_iter(match=f"{PREFIX}:*:state"):
        raw = cast(dict[bytes, bytes], client.hgetall(name))
        numbers = {key.decode(): float(value) for key, value in raw.items()}
        key = name.decode().removeprefix(f"{PREFIX}:").removesuffix(":state").strip("{}")
        states.append(
            KeyState(
                endpoint=key.rpartition("/")[0],
                granted=int(numbers.get("granted", 0)),
                put_off=int(numbers.get("put_off", 0)),
                throttled=int(numbers.get("throttled", 0)),
                cap=int(numbers["cap"]) if "cap" in numbers else None,
                paused_until_s=numbers.get("pause"),
            )
        )
    return sorted(states, key=lambda state: state.endpoint)


class RedisRateLimiter:
    """The account of one key, for one process."""

    def __init__(
        self, redis: Redis, key: str, *, holder: str, flow: Flow, rate: Rate, lease_s: float = LEASE_S
    ) -> None:
        self._redis, self._keys = (
            redis,
            [f"{PREFIX}:{{{key}}}:{part}" for part in ("state", "calls", "leases", "flows")],
        )
        limits = {
            "requests_per_minute": rate.requests_per_minute,
            "tokens_per_minute": rate.tokens_per_minute,
            "max_in_flight": rate.in_flight,
        }
        self._who = {
            "holder": holder,
            **asdict(flow),
            "lease_s": lease_s,
            "lead": FAIRNESS_SLACK,
            "ahead_s": PREFETCH_S,
        }
        self._who |= {name: limit for name, limit in limits.items() if limit is not None}
        self._script, self._sha = files("gnomon_workers.rate_limit").joinpath("acquire.lua").read_text(), ""

    async def sync(self, request: SyncRequest) -> SyncResult:
        """Report and ask.

        Raises:
            redis.RedisError, OSError: Redis does not answer; nothing is known, so no call may go.
        """
        blob = json.dumps(self._who | {name: getattr(request, name) for name in request.__slots__})
        try:
            reply = await self._redis.evalsha(self._sha, len(self._keys), *self._keys, blob)
        except NoScriptError:
            self._sha = await self._redis.script_load(self._script)
            reply = await self._redis.evalsha(self._sha, len(self._keys), *self._keys, blob)
        granted, wait_ms, cap, prefetched = cast(list[int], reply)
        return SyncResult(granted=granted, wait_s=wait_ms / 1000, cap=cap, prefetched=prefetched)
