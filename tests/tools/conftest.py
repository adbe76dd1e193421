"""Scenes that the tests of tools look at."""

from pathlib import Path

import pytest

from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.format import read_scene
from gnomon_tools.scene.scene import Scene

EXAMPLES = Path(__file__).parents[2] / "examples" / "scenes"


@pytest.fixture(scope="session")
def small() -> Scene:
    """The example with streets."""
    return read_scene(EXAMPLES / "small.geojson")


@pytest.fixture(scope="session")
def floors() -> Scene:
    """The example with two floors."""
    return read_scene(EXAMPLES / "floors.geojson")


@pytest.fixture(scope="session")
def outdoors(small: Scene) -> Toolbox:
    return Toolbox(TOOLS, ToolContext(inputs=held(small)))


@pytest.fixture(scope="session")
def indoors(floors: Scene) -> Toolbox:
    return Toolbox(TOOLS, ToolContext(inputs=held(floors)))
