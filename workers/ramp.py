"""Ramp: the first trials of a process begin one by one.

What starts together waits for the loop together ever after.
"""

import asyncio

RAMP_S = 0.15
LATE_S = 0.02  # so far behind its times it catches up: a timer's delay, not a wait for money


class RampUp:
    """Spreads as many starts as may run at once over RAMP_S; later ones come as others end."""

    def __init__(self, starts: int) -> None:
        self._step_s, self._left, self._next_s = RAMP_S / starts, starts - 1, 0.0

    async def step(self) -> None:
        """Wait, after a start, until the next is due."""
        if self._left <= 0:
            return
        self._left -= 1
        now_s = asyncio.get_running_loop().time()
        self._next_s = max(self._next_s, now_s - LATE_S) + self._step_s
        if self._next_s > now_s:
            await asyncio.sleep(self._next_s - now_s)
