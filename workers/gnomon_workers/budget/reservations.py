"""Reserves what trials that have begun may need, so that a sample that has begun can end.

Each trial's reservation holds the most that a trial of its model and arm was seen to need; before one has
ended, as much as its arm allows, which gives way where money is short. Its calls are paid out of it; what
they leave goes back when the trial ends.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from gnomon_workers.budget.usage import NO_USAGE, Usage

Cost = tuple[float, float]  # tokens and dollars
current_trial_id: ContextVar[str] = ContextVar("the trial whose calls are paid", default="")


@dataclass(slots=True, kw_only=True)
class TrialReservation:
    """What one trial may cost, and has: in dollars and tokens, all of them known."""

    group: str  # its model and arm
    is_seen: bool  # a trial of its group has ended, so that it holds no more than one has needed
    reserved: Usage
    left: Usage
    used_usd: float = 0.0  # settled, or set aside for a call in flight
    used_tokens: int = 0
    peak_usd: float = 0.0  # the most used so far: what a trial needs, rather than what it costs
    peak_tokens: int = 0

    def use(self, usd: float, tokens: int) -> None:
        """So much more is used; less where it is negative."""
        self.used_usd += usd
        self.used_tokens += tokens
        if self.used_usd > self.peak_usd:
            self.peak_usd = self.used_usd
        if self.used_tokens > self.peak_tokens:
            self.peak_tokens = self.used_tokens
        self.left = self.reserved.without(Usage(self.used_usd, self.used_tokens))


class TrialReservations:
    """The reservations of the trials that run here, by trial id."""

    def __init__(self, allowed: Mapping[str, Cost]) -> None:
        """`allowed` by kind: after how much its arm ends a trial, where it says so."""
        self._allowed = allowed
        self._open: dict[str, TrialReservation] = {}
        self._running: set[str] = set()
        self.all_left = NO_USAGE  # in all of them
        self.most: dict[str, Cost] = {}  # by kind, of the dearest trial

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, trial_id: str) -> bool:
        return trial_id in self._open

    @property
    def running(self) -> int:
        """How many of the trials run; the others of their samples wait for a slot."""
        return len(self._running)

    def has_seen(self, kinds: Mapping[str, str]) -> bool:
        """Whether of the kind of each of these trials (id to kind) one has ended."""
        return all(kind in self.most for kind in kinds.values())

    def can_tell(self, kinds: Mapping[str, str]) -> bool:
        """Whether it is seen, or allowed by their arms, what each of these trials may need."""
        return all(kind in self.most or kind in self._allowed for kind in kinds.values())

    def costs(self, kinds: Mapping[str, str]) -> dict[str, Cost]:
        """What each of these trials, of which one `can_tell`, would reserve now."""
        return {trial_id: self.most.get(kind) or self._allowed[kind] for trial_id, kind in kinds.items()}

    def open(self, kinds: Mapping[str, str], granted: Mapping[str, Cost]) -> None:
        """Make a reservation for each of these trials, of what was granted for it, if anything."""
        for trial_id, kind in kinds.items():
            tokens, usd = granted.get(trial_id, (0.0, 0.0))
            reserved = Usage(usd, round(tokens))
            self._open[trial_id] = reservation = TrialReservation(
                group=kind, is_seen=kind in self.most, reserved=reserved, left=reserved
            )
            self._count(NO_USAGE, reservation.left)

    @property
    def unproved(self) -> list[TrialReservation]:
        """Those that hold something only because an arm allows it."""
        return [
            reservation
            for reservation in self._open.values()
            if not reservation.is_seen and reservation.left != NO_USAGE
        ]

    def give_way(self) -> bool:
        """Let go of what is held only because an arm allows it; whether there was any."""
        unproved = self.unproved
        for reservation in unproved:
            self._count(reservation.left, NO_USAGE)
            reservation.reserved = reservation.left = NO_USAGE
        return bool(unproved)

    def start(self, trial_id: str) -> None:
        """The trial runs from now on."""
        if trial_id in self._open:
            self._running.add(trial_id)

    def close(self, trial_id: str, *, has_run: bool) -> None:
        """The trial has ended: record what it cost. A trial that is given back says nothing of costs."""
        self._running.discard(trial_id)
        if (reservation := self._open.pop(trial_id, None)) is not None:
            self._count(reservation.left, NO_USAGE)
            if has_run:
                self.observe(reservation.group, (float(reservation.peak_tokens), reservation.peak_usd))

    def observe(self, kind: str, cost: Cost) -> None:
        """Take note of what a trial of that kind has cost, here or elsewhere."""
        tokens, usd = self.most.get(kind, (0.0, 0.0))
        self.most[kind] = max(tokens, cost[0]), max(usd, cost[1])

    def charge(self, trial_id: str, more: Usage, *, less: Usage = NO_USAGE) -> None:
        """Pay from a trial's reservation, and put back what was paid before."""
        if (reservation := self._open.get(trial_id)) is not None:
            before = reservation.left
            reservation.use(more.known_usd - less.known_usd, more.known_tokens - less.known_tokens)
            self._count(before, reservation.left)

    def left(self, trial_id: str) -> Usage:
        """What is left in a trial's reservation."""
        return NO_USAGE if (reservation := self._open.get(trial_id)) is None else reservation.left

    def _count(self, before: Usage, now: Usage) -> None:
        if not self._open:
            self.all_left = NO_USAGE  # exactly: no rounding adds up
            return
        self.all_left = Usage(
            self.all_left.known_usd + (now.known_usd - before.known_usd),
            self.all_left.known_tokens + (now.known_tokens - before.known_tokens),
        )


def kind_of(model: str, arm: str) -> str:
    """The kind of a trial: those of one model under one arm cost about the same."""
    return f"{model}\n{arm}"
