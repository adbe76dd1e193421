"""A store on SQLite, a real Redis, and the API over both."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir
from pathlib import Path

import pytest
from redis import Redis
from starlette.testclient import TestClient

from gnomon_service.api.app import create_app
from gnomon_service.cli.main import main
from gnomon_service.settings import Settings, read_settings
from gnomon_workers.store.store import Store
from tests.workers import desk
from tests.workers.conftest import empty_sqlite, postgres, redis, redis_url

__all__ = ["empty_sqlite", "postgres", "redis", "redis_url"]


@pytest.fixture
def store(tmp_path: Path, empty_sqlite: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{shutil.copy(empty_sqlite, tmp_path / 'gnomon.db')}")
    yield store
    store.close()


@pytest.fixture
def open_api(store: Store, redis: Redis, tmp_path: Path) -> Iterator[Callable[..., TestClient]]:
    """Make a client of an API whose environment the test chooses."""
    with ExitStack() as stack:

        def open_one(**environ: str) -> TestClient:
            settings: Settings = read_settings(environ, data_dir=tmp_path)
            app = create_app(settings, store=store, redis=redis)
            client = TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)
            return stack.enter_context(client)

        yield open_one


@pytest.fixture
def api(open_api: Callable[..., TestClient]) -> TestClient:
    return open_api()


@pytest.fixture
def run_in_process(capsys: pytest.CaptureFixture[str]) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run a command in this process, as `run_gnomon` does in one of its own; it may not start any."""

    def run(*words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        capsys.readouterr()
        with chdir(cwd or Path.cwd()), pytest.raises(SystemExit) as end:
            main(list(words))
        said = capsys.readouterr()
        return subprocess.CompletedProcess(words, int(end.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def run_job(store: Store, tmp_path: Path) -> Callable[[desk.Spec], desk.Spec]:
    """Run a job in this process: its report."""
    return lambda spec: desk.run(store, tmp_path, desk.post(store, tmp_path, spec))
