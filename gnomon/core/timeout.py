"""A trial's timeout, which is paused while the trial waits for a permit to call."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar


class TrialTimeout:
    """Ends a trial when its seconds are over; several waits at once count as one.

    A pause moves no timer: most trials are paused at every call, and few come to their end. Once the timer is
    due, it is seen how much of the time was paused.
    """

    def __init__(self, timeout: asyncio.Timeout, seconds: float) -> None:
        """Within the timeout, which has no end of its own."""
        self._loop = asyncio.get_running_loop()
        self._timeout, self._seconds, self._waits, self._since_s = timeout, seconds, 0, 0.0
        self.paused_s = 0.0  # so far
        self._began_s = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._wind()

    @property
    def is_over(self) -> bool:
        return self._timeout.expired()

    @property
    def run_s(self) -> float:
        """How long it has run so far, without its pauses."""
        now_s = self._loop.time()
        return now_s - self._began_s - self.paused_s - (now_s - self._since_s if self._waits else 0.0)

    def pause(self) -> None:
        """Stop the clock, until `go_on` was called as often as this."""
        if self._waits == 0:
            self._since_s = self._loop.time()
        self._waits += 1

    def go_on(self) -> None:
        """End a pause."""
        self._waits -= 1
        if self._waits == 0:
            self.paused_s += self._loop.time() - self._since_s
            if self._timer is None and not self._timeout.expired():
                self._wind()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _wind(self) -> None:
        self._timer = self._loop.call_later(self._seconds - self.run_s, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._waits:
            return  # the end of the pause winds it again
        if self.run_s < self._seconds:
            self._wind()
        else:
            self._timeout.reschedule(self._loop.time())


_TIMEOUT: ContextVar[TrialTimeout | None] = ContextVar("trial timeout", default=None)


@asynccontextmanager
async def trial_timeout(seconds: float) -> AsyncIterator[TrialTimeout]:
    """The timeout of what runs within.

    Raises:
        TimeoutError: the seconds are over.
    """
    async with asyncio.timeout(None if seconds > 0.0 else 0.0) as timeout:
        running = TrialTimeout(timeout, seconds)
        token = _TIMEOUT.set(running)
        try:
            yield running
        finally:
            running.stop()
            _TIMEOUT.reset(token)


def trial_run_s() -> float:
    """How long the trial that runs here has run so far, without its pauses; 0.0 where none runs."""
    running = _TIMEOUT.get()
    return running.run_s if running is not None else 0.0


class timeout_paused:  # noqa: N801 (read as a word of a `with`; a class, as every call may wait)
    """Within, the timeout of the trial that runs here is paused: it waits for Gnomon, not for its model."""

    __slots__ = ("_running",)

    def __enter__(self) -> None:
        self._running = _TIMEOUT.get()
        if self._running is not None:
            self._running.pause()

    def __exit__(self, *_: object) -> None:
        if self._running is not None:
            self._running.go_on()
