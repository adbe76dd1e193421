"""Bounds how many trials of a process run at once; one that waits long for its provider lends its slot."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable


class Slots:
    """So many slots; `changed` is called whenever one becomes free, or a model begins or ends to rest.

    A model rests while a trial of it waits long: its other trials would only join the wait.
    """

    def __init__(self, count: int, *, changed: Callable[[], None]) -> None:
        self._count, self._changed = count, changed
        self._taken = 0
        self._lent: Counter[str] = Counter()
        self._back: deque[asyncio.Future[None]] = deque()

    @property
    def in_use(self) -> int:
        """Slots whose trials run, or wait only to go on."""
        return self._taken + len(self._back)

    @property
    def is_free(self) -> bool:
        """Whether another trial may begin; those that come back from a wait go first."""
        return self.in_use < self._count

    @property
    def resting(self) -> frozenset[str]:
        """Labels of the models that rest."""
        return frozenset(self._lent)

    def take(self, model: str) -> "TrialSlot":
        """A slot for a trial of this model that begins."""
        self._taken += 1
        return TrialSlot(self, model)

    def give(self) -> None:
        """A slot is not used any more: the first that waits gets it."""
        while self._back:
            first = self._back.popleft()
            if not first.done():
                first.set_result(None)
                return
        self._taken -= 1
        self._changed()

    def lend(self, model: str) -> None:
        """A trial of the model waits long."""
        self._lent[model] += 1
        self.give()
        self._changed()

    def end_loan(self, model: str) -> None:
        """It waits no more."""
        self._lent[model] -= 1
        self._lent = +self._lent
        self._changed()

    async def wait(self) -> None:
        """Take a slot again."""
        if self._taken < self._count:
            self._taken += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._back.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()  # slot and cancellation came together
            elif turn in self._back:
                self._back.remove(turn)
            raise


class TrialSlot:
    """The slot of one trial; with several calls of it at once, the first that goes on takes it back."""

    def __init__(self, slots: Slots, model: str) -> None:
        self._slots, self._model = slots, model
        self._is_held, self._is_ended = True, False
        self.is_lent = False

    def lend(self) -> None:
        """Let another trial run."""
        if self._is_held and not self._is_ended:
            self.is_lent, self._is_held = True, False
            self._slots.lend(self._model)

    async def take_back(self) -> None:
        """Wait for a slot again, if it was lent."""
        if self.is_lent:
            self.is_lent = False
            self._slots.end_loan(self._model)
            await self._slots.wait()
            self._is_held = True

    def end(self) -> None:
        """The trial has ended, wherever it was."""
        self._is_ended = True
        if self.is_lent:
            self.is_lent = False
            self._slots.end_loan(self._model)
        elif self._is_held:
            self._is_held = False
            self._slots.give()
