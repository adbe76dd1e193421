"""State: what the routes share, built once with the app."""

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request
from redis import Redis

from service.api.pace import Pace
from service.kept_reports import KeptReports
from service.settings import Settings
from workers.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Settings, store and queue of one app, its last reports, and the pace of its callers."""

    settings: Settings
    store: Store
    redis: Redis
    reports: KeptReports
    pace: Pace


def state_of(request: Request) -> State:
    """The state of the app that serves this request."""
    return cast(State, request.app.state.gnomon)


Shared = Annotated[State, Depends(state_of)]
