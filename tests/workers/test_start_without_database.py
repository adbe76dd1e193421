"""A worker that starts while PostgreSQL is away waits for it, for a bounded time."""

from collections.abc import Iterator
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon_workers.store import Store
from gnomon_workers.store.store import open_store
from tests.workers.conftest import wait_until
from tests.workers.postgresql import PostgreSQL, running
from tests.workers.warm_supervisor import start_fork

MODULES = ("gnomon_workers.__main__", "gnomon_workers.sweeper")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    with running() as server:
        server.stop()
        yield server
        server.start()


def start(module: str, url: str, redis_url: str, folder: Path, **clocks: str) -> BaseProcess:
    env = {"GNOMON_DATA_DIR": str(folder), **clocks}
    places = ("--redis", redis_url, "--database", url)
    return start_fork(module, *places, log_file=folder / f"{module}.log", env=env)


def end(process: BaseProcess) -> None:
    process.kill()
    process.join()


@pytest.mark.parametrize("module", MODULES)
def test_one_that_waits_in_vain_ends_and_names_the_setting(
    server: PostgreSQL, redis_url: str, tmp_path: Path, module: str
) -> None:
    process = start(module, server.url, redis_url, tmp_path, GNOMON_START_SECONDS="0.1")
    try:
        process.join(60)
        assert process.exitcode == 2
    finally:
        end(process)
    said = (tmp_path / f"{module}.log").read_text()
    assert "GNOMON_DATABASE_URL: the database does not open: OperationalError" in said
    assert "Traceback" not in said


def test_a_worker_and_a_sweeper_wait_for_the_database_and_then_work(
    server: PostgreSQL, redis_url: str, tmp_path: Path
) -> None:
    processes = [start(module, server.url, redis_url, tmp_path) for module in MODULES]
    try:
        for module in MODULES:
            log = tmp_path / f"{module}.log"
            wait_until(lambda log=log: "does not open yet" in log.read_text())  # type: ignore[misc]
        server.start()
        with closing(Store(server.url)) as store:
            wait_until(lambda: len(store.workers()) == 1)
        assert all(process.is_alive() for process in processes)
    finally:
        for process in processes:
            end(process)
        server.stop()


def test_a_file_that_does_not_open_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match="the database does not open"):
        open_store(f"sqlite:///{tmp_path}/file/gnomon.db", patience_s=3_600.0)
