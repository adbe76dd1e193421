"""Counts in Redis how long calls, trials and waits of all workers took, for histograms.

Redis may lose them, as may a killed worker those of its last seconds: they are for dashboards, not for
reports.
"""

import asyncio
import json
import logging
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import NamedTuple, cast

from redis import Redis, RedisError

from gnomon.core.errors import ModelFault, ProviderFault
from gnomon.core.model import Model, Reply, Request
from gnomon_workers.queue import client_of
from gnomon_workers.wrapped_model import WrappedModel

KEY = "gnomon:durations"
BOUNDS_S = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
CALL, TRIAL, QUEUE = "call", "trial", "queue"  # what took the time
log = logging.getLogger(__name__)


class Histogram(NamedTuple):
    """How many took up to each of BOUNDS_S and longer, each counted once, and the seconds of all."""

    counts: list[int]
    total_s: float


class Durations:
    """Those that a process has noted and not yet written."""

    def __init__(self) -> None:
        self._new: defaultdict[tuple[str, ...], float] = defaultdict(float)

    def note(self, what: str, *labels: str, seconds: float) -> None:
        """Something of these labels took so long."""
        place = str(bisect_left(BOUNDS_S, seconds))
        self._new[what, *labels, place] += 1
        self._new[what, *labels, "s"] += seconds

    def write(self, redis: Redis) -> None:
        """Add them to those of all processes. What does not arrive is lost."""
        new, self._new = self._new, defaultdict(float)
        if not new:
            return
        try:
            pipeline = redis.pipeline(transaction=False)
            for field, value in new.items():
                pipeline.hincrbyfloat(KEY, json.dumps(field), value)
            pipeline.execute()
        except RedisError as error:
            log.info("durations are not counted: %s", error)

    @asynccontextmanager
    async def written(self, url: str | None, *, every_s: float) -> AsyncIterator[None]:
        """Within, they are written from time to time, and at the end; without a Redis they are forgotten."""
        if url is None:
            yield
            return
        with closing(client_of(url)) as redis:
            writer = asyncio.create_task(self._write_on(redis, every_s))
            try:
                yield
            finally:
                writer.cancel()
                await asyncio.to_thread(self.write, redis)

    async def _write_on(self, redis: Redis, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            await asyncio.to_thread(self.write, redis)


class TimedModel(WrappedModel):
    """Any model, whose calls are noted with how long they took and what came of them."""

    def __init__(self, model: Model, durations: Durations) -> None:
        super().__init__(model)
        self._durations = durations

    async def reply(self, request: Request) -> Reply:
        """The model's reply."""
        began_s, result = time.monotonic(), "broken_off"
        try:
            reply = await self._model.reply(request)
            result = "reply"
            return reply
        except (ProviderFault, ModelFault) as fault:
            result = fault.cause
            raise
        finally:
            self._durations.note(CALL, self.id, result, seconds=time.monotonic() - began_s)


def read_durations(redis: Redis) -> dict[tuple[str, ...], Histogram]:
    """The histograms of all processes, by what took the time and its labels.

    Raises:
        redis.RedisError: Redis does not answer.
    """
    found: dict[tuple[str, ...], Histogram] = {}
    for field, value in sorted(cast(dict[bytes, bytes], redis.hgetall(KEY)).items()):
        *labels, place = json.loads(field)
        counts, total_s = found.get(tuple(labels), Histogram([0] * (len(BOUNDS_S) + 1), 0.0))
        if place == "s":
            total_s = float(value)
        else:
            counts[int(place)] = round(float(value))
        found[tuple(labels)] = Histogram(counts, total_s)
    return found
