"""Stock: leave that a process was given in advance, while nothing is short."""

import math
from collections import deque

AHEAD_S = 0.25  # leave is good for so long; the ledger's pace reckons with calls that go so late
MOST_AHEAD = 256
LEAST_LOOK_S = 0.05  # less time says little of how many calls go


class Stock:
    """Leave in hand, oldest first. Times are the loop's, in seconds."""

    def __init__(self) -> None:
        self._leaves: deque[tuple[float, int]] = deque()  # until when, and for how many tokens
        self._begun, self._since_s, self._level = 0, 0.0, 0

    def __len__(self) -> int:
        return len(self._leaves)

    @property
    def is_low(self) -> bool:
        """Whether less than half of what was wanted is left."""
        return 2 * len(self._leaves) < self._level

    def take(self) -> int | None:
        """Take one: the tokens that were paid for it. None where there is none."""
        return self._leaves.popleft()[1] if self._leaves else None

    def add(self, count: int, *, tokens: int, now_s: float) -> None:
        """Put so many there."""
        self._leaves.extend([(now_s + AHEAD_S, tokens)] * count)

    def drop(self, now_s: float = math.inf) -> int:
        """Throw away what is too old (everything without a time): the tokens that were paid for it."""
        tokens = 0
        while self._leaves and self._leaves[0][0] <= now_s:
            tokens += self._leaves.popleft()[1]
        return tokens

    def count(self) -> None:
        """A call has begun."""
        self._begun += 1

    def wanted(self, now_s: float) -> int:
        """How many more to ask for: as many as go in AHEAD_S, by how many went since this was asked last."""
        per_s = self._begun / max(now_s - self._since_s, LEAST_LOOK_S)
        self._begun, self._since_s = 0, now_s
        self._level = min(MOST_AHEAD, math.ceil(per_s * AHEAD_S))
        return max(0, self._level - len(self._leaves))
