"""What tests of published benchmarks share."""

from pathlib import Path

import pytest

from gnomon_tools.scene.format import read_scene
from gnomon_tools.scene.scene import Scene


@pytest.fixture(autouse=True)
def _no_process_for_each_file(parquet_read_here: None) -> None:
    """Nearly every test here opens a file of a few rows."""


@pytest.fixture(scope="session")
def small() -> Scene:
    """The example scene of that name."""
    return read_scene(Path(__file__).parents[3] / "examples" / "scenes" / "small.geojson")
