"""What the routes share: settings, store, queue and limits, built once with the app."""

import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

from cachetools import TTLCache
from fastapi import Depends, Request
from redis import Redis

from gnomon_service.api.places import AllPlaces
from gnomon_service.api.rate_limit import TokenBuckets
from gnomon_service.derived import Derived
from gnomon_service.derived_kinds import JobVerdict
from gnomon_service.reply_watch import ReplyWatch
from gnomon_service.settings import Settings
from gnomon_service.web.page_memory import PageMemory
from gnomon_service.web.questions import Questions
from gnomon_workers.store.store import Store

if TYPE_CHECKING:  # else imported late: with SciPy's functions, a third of the API's start
    from gnomon.report.report import Report
    from gnomon.report.trial_index.index import TrialIndex

LOOK_S, MAX_LOOKS = 60.0, 10_000
MAX_STREAMS = 16  # per caller; each reads the store twice per second


class Looks:
    """Who looked at which job since that was last kept: not more than once a minute each."""

    def __init__(self) -> None:
        self._known: TTLCache[tuple[str, str], None] = TTLCache(MAX_LOOKS, LOOK_S)
        self._new: dict[tuple[str, str], None] = {}
        self._lock = threading.Lock()

    def note(self, job_id: str, who: str) -> None:
        """Somebody looks; that there is such a job is seen when it is kept."""
        with self._lock:
            if (job_id, who) not in self._known and len(self._new) < MAX_LOOKS:
                self._known[job_id, who] = self._new[job_id, who] = None

    def taken(self) -> list[tuple[str, str]]:
        """Those that are new: jobs and names."""
        with self._lock:
            new, self._new = list(self._new), {}
        return new


class OpenStreams:
    """How many event streams each caller holds open, in this process."""

    def __init__(self, limit: int = MAX_STREAMS) -> None:
        self.limit = limit
        self.counts: Counter[bytes] = Counter()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Settings, store and queue of one app, what is made of its jobs, its callers' request rates and
    streams, and what its pages remember from one look to the next.
    """

    settings: Settings
    store: Store
    redis: Redis
    reports: "Derived[Report]"
    verdicts: Derived[JobVerdict | None]
    indexes: "Derived[TrialIndex]"
    replies: ReplyWatch
    pace: TokenBuckets
    streams: OpenStreams
    looks: Looks
    memory: PageMemory
    questions: Questions
    places: AllPlaces


def state_of(request: Request) -> State:
    """The state of the app that serves this request."""
    return cast(State, request.app.state.gnomon)


Shared = Annotated[State, Depends(state_of)]
