"""Route that lists the workers."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from gnomon_service.api.state import Shared

router = APIRouter(prefix="/v1", tags=["workers"])


@router.get("/workers")
def list_workers(state: Shared) -> list[dict[str, Any]]:
    """Name, host, process id, state and shard (the first of those it runs in one go) of each live worker."""
    return [asdict(worker) for worker in state.store.workers()]
