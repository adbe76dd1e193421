"""Keeps permits that a process was given in advance, while nothing is short."""

import math
from collections import deque

PREFETCH_S = 0.25  # a permit is good for so long; the limiter's pace allows for calls that go so late
MAX_PREFETCHED = 512  # permits; beyond 2,000 calls a second some wait for a sync
ROOM = 1.25  # of the dearest call that went lately: conversations grow
LEAST_LOOK_S = 0.05  # less time says little of how many calls go


class PrefetchedPermits:
    """Permits in hand, oldest first. Times are the loop's, in seconds."""

    def __init__(self) -> None:
        self._permits: deque[tuple[float, int]] = deque()  # until when, and for how many tokens
        self._begun, self._since_s, self._level = 0, math.inf, 0
        self._dearest = 0  # tokens of a call, of those that went lately

    def __len__(self) -> int:
        return len(self._permits)

    @property
    def cost(self) -> int:
        """Tokens of one permit to ask for; what a call leaves of them is given back."""
        return math.ceil(ROOM * self._dearest)

    @property
    def is_low(self) -> bool:
        """Whether less than half of what was wanted is left."""
        return 2 * len(self._permits) < self._level

    def take(self, tokens: int) -> int | None:
        """Take one that is enough for a call of so many tokens: what was paid for it; None: there is none."""
        for place, (_, paid) in enumerate(self._permits):
            if paid >= tokens:
                del self._permits[place]
                return paid
        return None

    def add(self, count: int, *, tokens: int, now_s: float) -> None:
        """Put so many there."""
        self._permits.extend([(now_s + PREFETCH_S, tokens)] * count)

    def drop(self, now_s: float = math.inf) -> int:
        """Drop what is too old (everything without a time): the tokens that were paid for it."""
        tokens = 0
        while self._permits and self._permits[0][0] <= now_s:
            tokens += self._permits.popleft()[1]
        return tokens

    def count(self, tokens: int, *, now_s: float) -> None:
        """A call of so many tokens begins."""
        if self._begun == 0:
            self._since_s, self._dearest = min(self._since_s, now_s), 0
        self._begun += 1
        self._dearest = max(self._dearest, tokens)

    def wanted(self, now_s: float) -> int:
        """How many more to ask for: as many as go in PREFETCH_S, by how many went since the last time."""
        per_s = self._begun / max(now_s - self._since_s, LEAST_LOOK_S)
        self._begun, self._since_s = 0, now_s
        self._level = min(MAX_PREFETCHED, math.ceil(per_s * PREFETCH_S))
        return max(0, self._level - len(self._permits))
