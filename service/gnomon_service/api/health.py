"""Routes that say whether the process is alive and whether it can work."""

import os
from collections.abc import Callable

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from gnomon_service.api.state import Shared
from gnomon_workers.object_storage import MEDIA_URL_ENV
from gnomon_workers.open_job import media_of
from gnomon_workers.store import sqlite

open_router = APIRouter(tags=["health"])


@open_router.get("/healthz")
def healthz() -> dict[str, str]:
    """Liveness: the process answers."""
    return {"status": "ok"}


@open_router.get("/readyz")
def readyz(state: Shared) -> JSONResponse:
    """Readiness: store, queue and a bucket of media, if set, answer; else 503, with the one that does not."""
    checks: dict[str, Callable[[], object]] = {"store": state.store.ping, "redis": state.redis.ping}
    if os.environ.get(MEDIA_URL_ENV):
        checks["media"] = media_of(state.settings.data_dir).check
    answers = {name: _answer(check) for name, check in checks.items()}
    is_ready = all(answers[name][0] for name in answers)
    body: dict[str, str] = {"status": "ready" if is_ready else "not ready"}
    body |= {name: text for name, (_, text) in answers.items()}
    if state.settings.database_url.startswith("sqlite"):
        body |= {"sqlite_version": sqlite.version(), "sqlite_wal_race": sqlite.wal_race()}
    return JSONResponse(body, status_code=200 if is_ready else 503)


def _answer(check: Callable[[], object]) -> tuple[bool, str]:
    """Whether it answers, and its version or the kind of error; no addresses or keys."""
    try:
        answer = check()
    except Exception as error:  # noqa: BLE001 (any failure is the answer)
        return False, type(error).__name__
    return True, answer if isinstance(answer, str) else "ok"
