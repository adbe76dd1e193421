"""What the routes share: settings, store, queue and limits, built once with the app."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

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

MAX_STREAMS = 16  # per caller; each reads the store twice per second


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
    memory: PageMemory
    questions: Questions
    places: AllPlaces


def state_of(request: Request) -> State:
    """The state of the app that serves this request."""
    return cast(State, request.app.state.gnomon)


Shared = Annotated[State, Depends(state_of)]
