"""A worker that starts while PostgreSQL is away waits for it, for a bounded time."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon_workers.store import Store
from gnomon_workers.store.store import open_store
from tests.workers.conftest import wait_until
from tests.workers.postgresql import PostgreSQL, running

MODULES = ("gnomon_workers", "gnomon_workers.sweeper")


@pytest.fixture
def server() -> Iterator[PostgreSQL]:
    with running() as server:
        yield server


def start(module: str, url: str, redis_url: str, folder: Path, **clocks: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", module, "--redis", redis_url, "--database", url]
    with (folder / f"{module}.log").open("wb") as log:
        return subprocess.Popen(command, stderr=log, stdout=log, cwd=folder, env={**os.environ, **clocks})


def test_a_worker_and_a_sweeper_wait_for_the_database_and_then_work(
    server: PostgreSQL, redis_url: str, tmp_path: Path
) -> None:
    url = server.emptied()
    server.stop()
    processes = [start(module, url, redis_url, tmp_path) for module in MODULES]
    try:
        for module in MODULES:
            log = tmp_path / f"{module}.log"
            wait_until(lambda log=log: "does not open yet" in log.read_text())  # type: ignore[misc]
        server.start()
        with closing(Store(url)) as store:
            wait_until(lambda: len(store.workers()) == 1)
        assert [process.poll() for process in processes] == [None, None]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.parametrize("module", MODULES)
def test_one_that_waits_in_vain_ends_and_names_the_setting(
    server: PostgreSQL, redis_url: str, tmp_path: Path, module: str
) -> None:
    url = server.emptied()
    server.stop()
    process = start(module, url, redis_url, tmp_path, GNOMON_START_SECONDS="0.1")
    try:
        assert process.wait(60) == 2
    finally:
        process.kill()
        process.wait()
        server.start()
    said = (tmp_path / f"{module}.log").read_text()
    assert "GNOMON_DATABASE_URL: the database does not open: OperationalError" in said
    assert "Traceback" not in said


def test_a_file_that_does_not_open_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match="the database does not open"):
        open_store(f"sqlite:///{tmp_path}/file/gnomon.db", patience_s=3_600.0)
