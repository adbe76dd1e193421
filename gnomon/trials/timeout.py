"""A trial's timeout, which is paused while the trial waits for a permit to call."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar


class TrialTimeout:
    """Ends a trial when its seconds are over; several waits at once count as one."""

    def __init__(self, timeout: asyncio.Timeout) -> None:
        self._timeout, self._waits, self._left_s, self._since_s = timeout, 0, 0.0, 0.0
        self.paused_s = 0.0  # so far
        self._began_s = asyncio.get_running_loop().time()

    @property
    def is_over(self) -> bool:
        """Whether it was this timeout that ended the trial."""
        return self._timeout.expired()

    @property
    def run_s(self) -> float:
        """How long it has run so far, without its pauses."""
        now_s = asyncio.get_running_loop().time()
        return now_s - self._began_s - self.paused_s - (now_s - self._since_s if self._waits else 0.0)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within, the timeout is paused."""
        loop, when = asyncio.get_running_loop(), self._timeout.when()
        if self._waits == 0 and when is not None:
            self._since_s = loop.time()
            self._left_s = when - self._since_s
            self._timeout.reschedule(None)
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0:
                self.paused_s += loop.time() - self._since_s
            if self._waits == 0 and not self._timeout.expired():
                self._timeout.reschedule(loop.time() + self._left_s)


_TIMEOUT: ContextVar[TrialTimeout | None] = ContextVar("trial timeout", default=None)


@asynccontextmanager
async def trial_timeout(seconds: float) -> AsyncIterator[TrialTimeout]:
    """The timeout of what runs within.

    Raises:
        TimeoutError: the seconds are over.
    """
    async with asyncio.timeout(seconds) as timeout:
        running = TrialTimeout(timeout)
        token = _TIMEOUT.set(running)
        try:
            yield running
        finally:
            _TIMEOUT.reset(token)


def trial_run_s() -> float:
    """How long the trial that runs here has run so far, without its pauses; 0.0 where none runs."""
    running = _TIMEOUT.get()
    return running.run_s if running is not None else 0.0


@contextmanager
def timeout_paused() -> Iterator[None]:
    """Within, the timeout of the trial that runs here is paused: it waits for Gnomon, not for its model."""
    running = _TIMEOUT.get()
    if running is None:
        yield
        return
    with running.paused():
        yield
