"""The library of plug-ins and calls of tools, as pages and routes of the service."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon_service.extension import Extension, NavigationEntry

if TYPE_CHECKING:
    from fastapi import APIRouter


def _routers() -> Sequence["APIRouter"]:
    from gnomon_workbench.pages import calls, catalog, library, tool_pages

    return (catalog.router, calls.router, library.router, tool_pages.router)


workbench = Extension(
    name="workbench",
    description="The library of plug-ins, and calls of tools, as pages and routes.",
    routers=_routers,
    navigation=(
        NavigationEntry("Benchmarks", "/ui/benchmarks", ("/ui/benchmarks", "/ui/agents", "/ui/presets")),
        NavigationEntry("Tools", "/ui/tools", ("/ui/tools", "/ui/scenes")),
    ),
    folders=(Path(__file__).parents[1] / "pages",),
)
