"""The SQLite file: by which library it is opened, and what is said of one that is damaged."""

import sqlite3
from pathlib import Path

import pytest

from gnomon.core.errors import DataError
from gnomon_workers.settings import MAX_LEASE_S
from gnomon_workers.store import Store
from gnomon_workers.store.sqlite import library
from tests.workers.conftest import Clock, create


def test_the_newer_of_two_libraries_is_used_and_maps_no_file(store: Store) -> None:
    assert library().sqlite_version_info >= sqlite3.sqlite_version_info
    with store.reading() as db:
        version = db.exec_driver_sql("SELECT sqlite_version()").scalar_one()
        assert version == library().sqlite_version
        assert db.exec_driver_sql("PRAGMA mmap_size").scalar_one() == 0


def test_a_damaged_file_is_refused_and_a_whole_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "gnomon.db"
    store = Store(f"sqlite:///{file}")
    create(store, 200)
    store.check_integrity()
    store.close()
    data = bytearray(file.read_bytes())
    middle = len(data) // 2 // 4_096 * 4_096
    data[middle : middle + 64] = b"\xff" * 64
    file.write_bytes(data)
    damaged = Store(f"sqlite:///{file}")
    with pytest.raises(DataError, match="damaged"):
        damaged.check_integrity()
    damaged.close()


def test_a_clock_that_was_set_back_keeps_no_lease_of_the_dead(store: Store, clock: Clock) -> None:
    job = create(store, 1)
    clock.now_s += 2 * MAX_LEASE_S
    store.lease(job.id, 0, worker="dead", ttl_s=10.0)
    clock.now_s -= 2 * MAX_LEASE_S
    assert store.sweep() == [(job.id, 0)]
