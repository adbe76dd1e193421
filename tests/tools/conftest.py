"""Scenes that the tests of tools look at."""

from pathlib import Path

import pytest

from tools.core.inputs import held
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from tools.scene.format import read_scene
from tools.scene.scene import Scene

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
