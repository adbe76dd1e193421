"""What all tests share: where material from outside the repository lies, and a ban on real providers."""

import gc
import os
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# As the command line has it, before NumPy reads it. On a busy machine two threads wait for each other:
# a fit of 200 × 200 took them 268 ms of CPU, and one of them alone 5.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.warm_gnomon import warm_gnomon

# A deadline is a timed assertion, and a busy machine would break it.
settings.register_profile("few", deadline=None, max_examples=8)  # drawn anew in each run
settings.register_profile("many", deadline=None, max_examples=500)
settings.load_profile("few")

ROOT = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """A module without an example has no doctest, and is not imported to see."""
    if collection_path.suffix != ".py" or collection_path.name.startswith("test_"):
        return None
    return ">>>" not in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in a browser come last: its event loop stays open, and no other may run beside it."""
    items.sort(key=lambda item: item.nodeid.startswith("tests/web/"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is read then stays there: the collector of garbage looks at it neither now nor again."""
    gc.disable()
    outcome = yield
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as in a worker: else a thirtieth of the suite is spent on it
    gc.enable()
    return outcome


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A shell lets its background jobs ignore Ctrl-C, and so would every process that a test starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def warm_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """PATH with a `gnomon` that need not be loaded for every command."""
    with warm_gnomon(tmp_path_factory.mktemp("warm")) as path:
        yield path


@pytest.fixture(scope="session")
def run_gnomon(warm_path: str) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run that `gnomon` with the words given, in a folder, and return its end and what it said."""

    def run(*words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        places: dict[str, Any] = {"cwd": cwd, "env": {**os.environ, "PATH": warm_path}}
        files: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        return subprocess.run(["gnomon", *words], **places, **files, check=False)

    return run


@pytest.fixture
def parquet_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that tests have written are unpacked in this process. The product starts one for each group: that
    is shown in tests/gnomon/test_unpacking.py and by jobs over files. What is wrong with a file, it says.
    """
    from tests.parquet_here import READERS, read_group_here  # late: it takes half a second

    for module in READERS:
        monkeypatch.setattr(module, "read_group", read_group_here)


def _outside(variable: str, default: str) -> Path:
    folder = Path(os.environ.get(variable) or ROOT / default)
    if not folder.is_dir():
        reason = f"{variable} names no folder of this kind, and {default} is not there"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    """Vectors made by the official scorers; absent: skipped, under CI=true failed."""
    return _outside("GNOMON_GOLDEN_DIR", "../shared/golden")


@pytest.fixture(scope="session")
def cases_dir() -> Path:
    """Small inputs with what is right for them; absent: skipped, under CI=true failed."""
    return _outside("GNOMON_CASES_DIR", "../shared/cases")


@pytest.fixture(scope="session")
def gtr_dir() -> Path:
    """GTR-Bench in its published layout; absent: skipped, under CI=true failed."""
    return _outside("GNOMON_GTR_DIR", "../shared/data/gtr-bench")


@pytest.fixture(scope="session")
def gtr_media(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Media of GTR-Bench's published files, whose maps are read once."""
    from gnomon.media import MediaStore

    return MediaStore(tmp_path_factory.mktemp("gtr-media"))


@pytest.fixture(scope="session")
def mapeval_dir() -> Path:
    """MapEval's published file; absent: skipped, under CI=true failed."""
    return _outside("GNOMON_MAPEVAL_DIR", "../shared/data/mapeval")


@pytest.fixture(autouse=True)
def _no_keys_from_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can reach a real provider by way of the developer's own environment."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or (name.startswith("GNOMON_") and not name.endswith("_DIR")):
            monkeypatch.delenv(name)
    monkeypatch.delenv("GNOMON_DATA_DIR", raising=False)


@pytest.fixture(scope="session")
def geo_dir() -> Path:
    """A folder with the list of municipal offices, as `../shared/data/geo` has it."""
    return _outside("GNOMON_GEO_DIR", "../shared/data/geo")


@pytest.fixture(scope="session")
def places_dir() -> Path:
    """A folder with texts of opening hours read by a second reader, as `../shared/data/places` has it."""
    return _outside("GNOMON_PLACES_DIR", "../shared/data/places")


@pytest.fixture(scope="session")
def travelplanner_dir() -> Path:
    """A folder with TravelPlanner's published plans, as `../shared/data/travelplanner` has it."""
    return _outside("GNOMON_TRAVELPLANNER_DIR", "../shared/data/travelplanner")


@pytest.fixture(scope="session")
def rooms_dir() -> Path:
    """Boxes of scanned rooms, as `../shared/data/rooms` has them; absent: skipped, under CI=true failed."""
    return _outside("GNOMON_ROOMS_DIR", "../shared/data/rooms")
