"""Limits how fast each caller of the API may ask: a token bucket per caller, in this process."""

import threading
import time
from collections.abc import Callable

from cachetools import LRUCache

KEPT = 10_000  # callers that are remembered; one that was forgotten starts with a full bucket


class TokenBuckets:
    """At most `per_minute` requests per minute and caller; as many at once, then evenly.

    >>> now = [0.0]
    >>> pace = TokenBuckets(2, clock=lambda: now[0])
    >>> [pace.wait_s(b"me") for _ in range(3)], pace.wait_s(b"you")
    ([0.0, 0.0, 30.0], 0.0)
    >>> now[0] = 30.0
    >>> pace.wait_s(b"me")
    0.0
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._clock = per_minute, clock
        self._left: LRUCache[bytes, tuple[float, float]] = LRUCache(KEPT)  # tokens, and when
        self._lock = threading.Lock()

    def wait_s(self, caller: bytes) -> float:
        """0 where the caller may go on, else seconds until it may."""
        with self._lock:
            now_s = self._clock()
            left, since_s = self._left.get(caller, (float(self._size), now_s))
            left = min(float(self._size), left + (now_s - since_s) * self._size / 60.0)
            may = left >= 1.0
            self._left[caller] = (left - may, now_s)
            return 0.0 if may else (1.0 - left) * 60.0 / self._size
