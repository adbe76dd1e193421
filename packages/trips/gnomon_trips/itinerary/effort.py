"""Limits a search by steps, which are the same on every machine, and as a last resort by time."""

import time
from collections.abc import Callable
from dataclasses import dataclass

IsOver = Callable[[], bool]


@dataclass(slots=True)
class Effort:
    """The time for an answer.

    Searches end by their own counts of steps, so that one request has one answer. `is_cut` says that the
    time was over before that.
    """

    seconds: float
    is_cut: bool = False
    started: float = 0.0

    def __post_init__(self) -> None:
        self.started = time.monotonic()

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self.started

    def until(self, share: float, calls: int | None = None) -> IsOver:
        """Whether that share of the time is over, or the answer was asked for so many times."""
        left = calls

        def is_over() -> bool:
            nonlocal left
            if left is not None:
                left -= 1
                if left < 0:
                    return True
            if self.spent_s >= share * self.seconds:
                self.is_cut = True
                return True
            return False

        return is_over
