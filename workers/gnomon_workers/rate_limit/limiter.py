"""Makes the rate limit clients of one shard, one for each provider key that its models use."""

import functools
import uuid
from collections.abc import Mapping

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from gnomon.core.errors import ProviderFault
from gnomon.core.model import Model, is_built_in
from gnomon.core.retry import DEFAULT_RETRY, RetryPolicy
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec, Rate
from gnomon_agents.models.chat_format import key_of
from gnomon_workers.rate_limit.client import RateLimitClient
from gnomon_workers.rate_limit.config import bucket_key, endpoint_of
from gnomon_workers.rate_limit.model import RateLimitedModel
from gnomon_workers.rate_limit.redis_limiter import Flow, RedisRateLimiter
from gnomon_workers.rate_limit.waits import WaitRecord
from gnomon_workers.redis_url import async_redis_at

WEIGHTS = {"high": 4, "normal": 2, "low": 1}  # shares of a key that jobs of these priorities get
REDIS_TIMEOUT_S = 5.0


def flow_of(job_id: str, spec: JobSpec) -> Flow:
    """On whose behalf a job's calls ask for permits."""
    return Flow(job=job_id, queue=spec.queue, weight=WEIGHTS[spec.priority])


class Limiter:
    """Holds models to the rates that the operator and the spec name, whichever is stricter."""

    def __init__(
        self, redis_url: str, *, flow: Flow, rates: Mapping[str, Rate], retry: RetryPolicy = DEFAULT_RETRY
    ) -> None:
        """Connects at the first call, on its loop."""
        once = Retry(NoBackoff(), 0)
        self._redis = async_redis_at(redis_url, socket_timeout=REDIS_TIMEOUT_S, retry=once)
        self._flow, self._rates, self._retry = flow, rates, retry
        self._clients: dict[tuple[str, Rate], RateLimitClient] = {}

    def around(self, model: Model, spec: ModelSpec, waits: WaitRecord, *, asks_anew: bool = False) -> Model:
        """The model within its key's rate; a built-in one makes no calls and is left as it is.

        `waits` and `asks_anew` as for `RateLimitedModel`.
        """
        if is_built_in(spec.id):
            return model
        rate = self._rates.get(endpoint_of(spec), Rate()).within(spec.rate or Rate())
        client_of = functools.cache(lambda key: self._client(bucket_key(spec, key), rate))

        def client_for() -> RateLimitClient | None:
            try:
                return client_of(key_of(spec))
            except ProviderFault:
                return None

        return RateLimitedModel(model, client_for, waits=waits.note, asks_anew=asks_anew, retry=self._retry)

    def _client(self, name: str, rate: Rate) -> RateLimitClient:
        if (name, rate) not in self._clients:
            holder = uuid.uuid4().hex
            limiter = RedisRateLimiter(self._redis, name, holder=holder, flow=self._flow, rate=rate)
            self._clients[name, rate] = RateLimitClient(limiter)
        return self._clients[name, rate]

    async def close(self) -> None:
        """Give back what is held."""
        for client in self._clients.values():
            await client.close()
        await self._redis.aclose()
