"""Route that shows the keys, and who did what."""

from typing import Any

from fastapi import APIRouter

from gnomon_service.actions import keep_looks
from gnomon_service.api.state import Shared
from gnomon_service.keys_view import keys_view

router = APIRouter(prefix="/v1", tags=["keys"])


@router.get("/keys")
def get_keys(state: Shared) -> dict[str, Any]:
    """The keys with what their jobs cost this month, the last of what was done with jobs, and those that were
    deleted last. The keys themselves are not kept, so they are not shown.
    """
    keep_looks(state)
    return keys_view(state.store, state.settings.api_keys.entries())
