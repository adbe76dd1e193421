"""State: what the routes share, built once with the app."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

from anyio import CapacityLimiter
from fastapi import Depends, Request
from redis import Redis

from service.api.rate_limit import TokenBuckets
from service.report_cache import ReportCache
from service.settings import Settings
from workers.store.store import Store

if TYPE_CHECKING:
    from service.api.streams import Streams  # it answers with problems, which know the state


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Settings, store and queue of one app, its last reports, the pace of its callers and their streams."""

    settings: Settings
    store: Store
    redis: Redis
    reports: ReportCache
    pace: TokenBuckets
    streams: "Streams"
    report_threads: CapacityLimiter  # reports take long; the other routes have threads of their own


def state_of(request: Request) -> State:
    """The state of the app that serves this request."""
    return cast(State, request.app.state.gnomon)


Shared = Annotated[State, Depends(state_of)]
