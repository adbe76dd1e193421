"""Notices, while a job runs, arms whose replies cannot be read."""

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from cachetools import LRUCache

from gnomon.core.missing import beginning
from gnomon.core.reply_state import ReplyState
from gnomon.report.reply_alerts import last_words
from gnomon.report.reply_words import STATE_WORDS
from gnomon.report.text_formats import clean
from gnomon_workers.store.store import Store

FEWEST = 5  # replies of an arm, before anything is said of it
MOST_UNREAD = 0.5  # share of them that may be unread
EXAMPLE_CHARS = 60
KEPT = 64  # jobs
READ = (ReplyState.READ, ReplyState.READ_CUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadReplies:
    """An arm of which too few replies could be read: `read` of `ended`; most others are in this `state`."""

    model: str
    arm: str
    state: ReplyState
    read: int
    ended: int
    example: str  # the beginning of a reply in that state; empty where it has no words

    @property
    def sentence(self) -> str:
        """The finding in one line."""
        read = f"{self.read:,} of {self.ended:,} replies of “{self.arm}” could be read"
        line = f"{self.model}: {read} ({STATE_WORDS[self.state]})"
        return f"{line}, e.g. “{self.example}”" if self.example else line

    @property
    def key(self) -> tuple[str, str, ReplyState]:
        """What is told once: the model, the arm and the state."""
        return self.model, self.arm, self.state

    def record(self) -> dict[str, Any]:
        """The alert as plain data."""
        return {
            "model": self.model,
            "arm": self.arm,
            "kind": self.state.value,
            "share": 1.0 - self.read / self.ended,
            "n": self.ended,
            "example": self.example,
            "text": self.sentence,
        }


@dataclass(slots=True)
class _Counts:
    """The replies of a job up to number `seq`, by model and arm, and a trial in each state."""

    seq: int = 0
    states: dict[tuple[str, str], Counter[ReplyState]] = field(default_factory=lambda: defaultdict(Counter))
    trials: dict[tuple[str, str, ReplyState], str] = field(default_factory=dict)
    examples: dict[tuple[str, str, ReplyState], str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class ReplyWatch:
    """Follows the replies of jobs; each look reads what has come since the last. Safe to share by threads."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._jobs: LRUCache[str, _Counts] = LRUCache(KEPT)

    def unread(self, job_id: str) -> list[UnreadReplies]:
        """The arms of which most replies cannot be read so far."""
        with self._lock:
            counts = self._jobs.setdefault(job_id, _Counts())
        with counts.lock:
            for group in self._store.reply_states(job_id, counts.seq):
                counts.seq = max(counts.seq, group.last_seq)
                if group.state not in (None, ReplyState.MISSING):
                    state = ReplyState(group.state)
                    counts.states[group.model, group.arm][state] += group.trials
                    counts.trials.setdefault((group.model, group.arm, state), group.trial_id)
            return [
                self._unread(model, arm, states, counts)
                for (model, arm), states in sorted(counts.states.items())
                if _is_unread(states)
            ]

    def _unread(self, model: str, arm: str, states: Counter[ReplyState], counts: _Counts) -> UnreadReplies:
        state = max((state for state in states if state not in READ), key=lambda each: states[each])
        key = model, arm, state
        if key not in counts.examples:
            counts.examples[key] = _beginning(self._store.trace(counts.trials[key]))
        return UnreadReplies(
            model=model,
            arm=arm,
            state=state,
            read=sum(states[each] for each in READ),
            ended=states.total(),
            example=counts.examples[key],
        )


def _is_unread(states: Counter[ReplyState]) -> bool:
    ended = states.total()
    return ended >= FEWEST and ended - sum(states[each] for each in READ) > MOST_UNREAD * ended


def _beginning(trace: Any) -> str:
    return beginning(clean(last_words(trace or {})), EXAMPLE_CHARS)
