"""Sets aside what the trials that have begun may need, so that a sample once begun can be ended.

Each trial's reservation holds the most that a trial of its model and arm was seen to need. Its calls are paid
out of it; what they leave goes back when the trial ends.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from workers.store.budgets import ZERO_USAGE
from workers.store.job_counters import Usage

current_trial_id: ContextVar[str] = ContextVar("the trial whose calls are paid", default="")


@dataclass(slots=True, kw_only=True)
class TrialReservation:
    """What one trial may cost, and has."""

    group: str  # its model and arm
    reserved: Usage
    used: Usage = ZERO_USAGE  # settled, or set aside for a call in flight
    peak: Usage = ZERO_USAGE  # the most of `used` so far: what a trial needs, rather than what it costs

    @property
    def left(self) -> Usage:
        return subtract(self.reserved, self.used)


class TrialReservations:
    """The reservations of the trials that run here, by trial id."""

    def __init__(self) -> None:
        self._open: dict[str, TrialReservation] = {}
        self._running: set[str] = set()
        self.all_left = ZERO_USAGE  # in all of them
        self.most: dict[str, tuple[float, float]] = {}  # by kind: tokens and dollars of the dearest trial

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, trial_id: str) -> bool:
        return trial_id in self._open

    @property
    def running(self) -> int:
        """How many of the trials run; the others of their samples wait for a slot."""
        return len(self._running)

    def wanted(self, kinds: Mapping[str, str]) -> Usage | None:
        """What these trials (id to kind) would reserve; None where nothing is known of a trial's kind."""
        if any(kind not in self.most for kind in kinds.values()):
            return None
        tokens, usd = zip(*(self.most[kind] for kind in kinds.values()), strict=True)
        return Usage(sum(usd), round(sum(tokens)))

    def open(self, kinds: Mapping[str, str]) -> None:
        """Make a reservation for each of these trials; an empty one where nothing is known."""
        for trial_id, kind in kinds.items():
            tokens, usd = self.most.get(kind, (0.0, 0.0))
            self._open[trial_id] = reservation = TrialReservation(
                group=kind, reserved=Usage(usd, round(tokens))
            )
            self._count(ZERO_USAGE, reservation.left)

    def start(self, trial_id: str) -> None:
        """The trial runs from now on."""
        if trial_id in self._open:
            self._running.add(trial_id)

    def close(self, trial_id: str, *, has_run: bool) -> None:
        """The trial has ended: record what it cost. A trial that is given back says nothing of costs."""
        self._running.discard(trial_id)
        if (reservation := self._open.pop(trial_id, None)) is not None:
            self._count(reservation.left, ZERO_USAGE)
            if has_run:
                self.observe(
                    reservation.group, (float(reservation.peak.known_tokens), reservation.peak.known_usd)
                )

    def observe(self, kind: str, cost: tuple[float, float]) -> None:
        """Take note of what a trial of that kind has cost, here or elsewhere."""
        tokens, usd = self.most.get(kind, (0.0, 0.0))
        self.most[kind] = max(tokens, cost[0]), max(usd, cost[1])

    def charge(self, trial_id: str, more: Usage, *, less: Usage = ZERO_USAGE) -> None:
        """Pay from a trial's reservation, and put back what was paid before."""
        if (reservation := self._open.get(trial_id)) is not None:
            before = reservation.left
            reservation.used = Usage(
                reservation.used.known_usd + more.known_usd - less.known_usd,
                reservation.used.known_tokens + more.known_tokens - less.known_tokens,
            )
            reservation.peak = Usage(
                max(reservation.peak.known_usd, reservation.used.known_usd),
                max(reservation.peak.known_tokens, reservation.used.known_tokens),
            )
            self._count(before, reservation.left)

    def left(self, trial_id: str) -> Usage:
        """What is left in a trial's reservation."""
        return ZERO_USAGE if (reservation := self._open.get(trial_id)) is None else reservation.left

    def _count(self, before: Usage, now: Usage) -> None:
        if not self._open:
            self.all_left = ZERO_USAGE  # exactly: no rounding adds up
            return
        self.all_left = Usage(
            self.all_left.known_usd + now.known_usd - before.known_usd,
            self.all_left.known_tokens + now.known_tokens - before.known_tokens,
        )


def subtract(total: Usage, part: Usage) -> Usage:
    """What is left of `one`, never below nothing."""
    return Usage(max(0.0, total.known_usd - part.known_usd), max(0, total.known_tokens - part.known_tokens))
