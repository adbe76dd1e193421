"""Route of workers: who is at work."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from service.api.state import Shared

router = APIRouter(prefix="/v1", tags=["workers"])


@router.get("/workers")
def list_workers(state: Shared) -> list[dict[str, Any]]:
    """Name, host, process id, state and shard (of those it runs in one go, the first) of each worker that was
    heard of lately.
    """
    return [asdict(worker) for worker in state.store.workers()]
