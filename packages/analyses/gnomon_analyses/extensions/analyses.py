"""The page of a tool server's card in the service."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon_service.extension import Extension

if TYPE_CHECKING:
    from fastapi import APIRouter


def _routers() -> Sequence["APIRouter"]:
    from gnomon_analyses.pages import server_card

    return (server_card.router,)


analyses = Extension(
    name="analyses",
    description="The card of a tool server as a page.",
    routers=_routers,
    folders=(Path(__file__).parents[1] / "pages",),
)
