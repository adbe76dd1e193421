"""Keeps track of forks whose trials all wait for a provider, while their worker runs other shards."""

import os
import select
import signal
import time
from contextlib import suppress

MAX_RESTING = 8  # of one worker: each holds the memory of a job
RESTS = b"r"


class ForkLine:
    """A pipe from a fork to its worker: says that the fork rests, and by its end that the fork has ended."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def keep_reading(self) -> None:
        """In the worker, after the fork."""
        os.close(self._write)

    def keep_writing(self) -> None:
        """In the fork."""
        os.close(self._read)

    def say_resting(self) -> None:
        """In the fork: all that runs here waits."""
        with suppress(BrokenPipeError):  # the worker does not listen any more: it knows, or is dead
            os.write(self._write, RESTS)

    def heard(self, within_s: float) -> bytes | None:
        """In the worker: RESTS, b"" once the fork has ended, None if it said nothing in this time."""
        ready, _, _ = select.select([self._read], [], [], within_s)
        return os.read(self._read, 1) if ready else None

    def close(self) -> None:
        """In the worker: stop listening."""
        os.close(self._read)


class RestingForks:
    """The forks of a worker that rest, or have rested: each goes on by itself when its provider answers."""

    def __init__(self) -> None:
        self._pids: set[int] = set()

    @property
    def has_room(self) -> bool:
        """Whether another may rest."""
        return len(self._pids) < MAX_RESTING

    def add(self, pid: int) -> None:
        """Let this one rest."""
        self._pids.add(pid)

    def ended(self) -> list[int]:
        """Process ids of those that have died since the last call; those that ended well are forgotten."""
        died = []
        for pid in list(self._pids):
            with suppress(ChildProcessError):
                ended_pid, status = os.waitpid(pid, os.WNOHANG)
                if not ended_pid:
                    continue
                if status:
                    died.append(pid)
            self._pids.discard(pid)
        return died

    def stop(self) -> None:
        """Ask all of them to give back what they hold."""
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def wait(self, within_s: float) -> list[int]:
        """Wait until all have ended; return those that have died."""
        until_s, died = time.monotonic() + within_s, self.ended()
        while self._pids and time.monotonic() < until_s:
            time.sleep(0.05)
            died += self.ended()
        return died
