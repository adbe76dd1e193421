"""The published layouts that a module names in `PUBLISH`, written once, and a store of its own."""

from pathlib import Path

import pytest

from gnomon.media import MediaStore


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("published")
    for name, publish in request.module.PUBLISH.items():
        publish(root / name)
    return root


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> MediaStore:
    return MediaStore(tmp_path_factory.mktemp("media"))
