"""The route that shows a review queue with its decisions."""

from typing import Any

from fastapi import APIRouter

from gnomon_service.api.state import Shared
from gnomon_service.review_desk import queue_record

router = APIRouter(prefix="/v1/reviews", tags=["reviews"])


@router.get("/{queue}")
def get_queue(state: Shared, queue: str) -> dict[str, Any]:
    """A queue of samples with its reviews, the agreement of its reviewers, and where they disagree."""
    chosen = state.store.queue(queue)
    return queue_record(chosen, state.store.reviews(queue))
