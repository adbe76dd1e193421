"""Trips in the service: their routes and pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon_service.extension import Extension, NavigationEntry

if TYPE_CHECKING:
    from fastapi import APIRouter

PACKAGE = Path(__file__).parents[1]


def _routers() -> Sequence["APIRouter"]:
    from gnomon_trips.service import pages, routes

    return routes.router, pages.router


trips = Extension(
    name="trips",
    description="Trips planned and verified: routes and pages.",
    routers=_routers,
    navigation=(NavigationEntry("Trips", "/ui/trips", ("/ui/trips",)),),
    folders=(PACKAGE / "service", PACKAGE / "export"),
)
