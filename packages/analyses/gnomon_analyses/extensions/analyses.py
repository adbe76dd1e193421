"""The pages of compared jobs, server cards, boards and the review desk, and files for a paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon_service.extension import Extension, NavigationEntry

if TYPE_CHECKING:
    from fastapi import APIRouter


def _routers() -> Sequence["APIRouter"]:
    from gnomon_analyses.pages import boards, compare, paper, review, review_queues, server_card, trial_pair

    pages = (compare, trial_pair, paper, review_queues, review, boards, server_card)
    return (review_queues.api, *(module.router for module in pages))


analyses = Extension(
    name="analyses",
    description="Compared jobs, server cards, boards and the review desk as pages; files for a paper.",
    routers=_routers,
    navigation=(
        NavigationEntry("Compare", "/ui/compare", ("/ui/compare", "/ui/board")),
        NavigationEntry("Review", "/ui/review", ("/ui/review",)),
    ),
    folders=(Path(__file__).parents[1] / "pages",),
)
