"""The pages of compared jobs, of a tool server's card, of boards and of the review desk in the service."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon_service.extension import Extension, NavigationEntry

if TYPE_CHECKING:
    from fastapi import APIRouter


def _routers() -> Sequence["APIRouter"]:
    from gnomon_analyses.pages import boards, compare, review, review_queues, server_card, trial_pair

    pages = (compare, trial_pair, review_queues, review, boards, server_card)
    return (review_queues.api, *(module.router for module in pages))


analyses = Extension(
    name="analyses",
    description="Compared jobs, the card of a tool server, boards and the review desk, as pages.",
    routers=_routers,
    navigation=(
        NavigationEntry("Compare", "/ui/compare", ("/ui/compare", "/ui/board")),
        NavigationEntry("Review", "/ui/review", ("/ui/review",)),
    ),
    folders=(Path(__file__).parents[1] / "pages",),
)
