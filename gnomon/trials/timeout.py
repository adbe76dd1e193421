"""Clock: a trial's seconds, which stand still while the trial waits for leave to call."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar


class TrialTimeout:
    """Ends a trial when its seconds are over; several waits at once count as one."""

    def __init__(self, timeout: asyncio.Timeout) -> None:
        self._timeout, self._waits, self._left_s, self._since_s = timeout, 0, 0.0, 0.0
        self.paused_s = 0.0  # so far

    @property
    def is_over(self) -> bool:
        """Whether it was this clock that ended the trial."""
        return self._timeout.expired()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Within, no second passes."""
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


_CLOCK: ContextVar[TrialTimeout | None] = ContextVar("trial clock", default=None)


@asynccontextmanager
async def trial_timeout(seconds: float) -> AsyncIterator[TrialTimeout]:
    """The clock of what runs within.

    Raises:
        TimeoutError: the seconds are over.
    """
    async with asyncio.timeout(seconds) as timeout:
        clock = TrialTimeout(timeout)
        token = _CLOCK.set(clock)
        try:
            yield clock
        finally:
            _CLOCK.reset(token)


@contextmanager
def timeout_paused() -> Iterator[None]:
    """Within, the seconds of the trial that runs here stand still: it waits for us, not for its model."""
    clock = _CLOCK.get()
    if clock is None:
        yield
        return
    with clock.stopped():
        yield
