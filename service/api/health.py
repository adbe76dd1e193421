"""Routes of health: is the process alive, and can it do its work."""

from collections.abc import Callable

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from service.api.state import Shared
from workers.store import sqlite

router = APIRouter(tags=["health"])


@router.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(state: Shared) -> JSONResponse:
    """The store and the queue answer; 503 with what does not."""
    checks: dict[str, Callable[[], object]] = {"store": state.store.ping, "redis": state.redis.ping}
    answers = {name: _answer(check) for name, check in checks.items()}
    is_ready = all(answers[name][0] for name in answers)
    body: dict[str, str] = {"status": "ready" if is_ready else "not ready"}
    body |= {name: said for name, (_, said) in answers.items()}
    if state.settings.database_url.startswith("sqlite"):
        body |= {"sqlite_version": sqlite.version(), "sqlite_wal_race": sqlite.wal_race()}
    return JSONResponse(body, status_code=200 if is_ready else 503)


def _answer(check: Callable[[], object]) -> tuple[bool, str]:
    """Whether it answers, and what: its version, or the kind of fault; addresses and keys stay inside."""
    try:
        said = check()
    except Exception as error:  # noqa: BLE001 (whatever fails here is the answer)
        return False, type(error).__name__
    return True, said if isinstance(said, str) else "ok"
