"""Opens SQLite files: by which library, how, and whether the file is whole and has room to grow."""

import os
import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

BUSY_TIMEOUT_S = 30.0
# Of each process: more connections than heavy requests have places, so that cheap ones find one; a thread
# waits so many seconds for one.
POOL: Mapping[str, Any] = {"pool_size": 10, "max_overflow": 22, "pool_timeout": 10.0}
WAL_RETRY_S = 0.02
MIN_FREE_BYTES = 1 << 20  # with less room on its disk no job is taken in; what runs goes on as far as it can
WITHOUT_RACE = (3, 51, 3)  # all from 3.7.0 to 3.51.2 have it
_SETUP = (
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={int(BUSY_TIMEOUT_S * 1000)}",
    "PRAGMA mmap_size=0",
)


class _Cursor(Protocol):
    def execute(self, statement: str) -> Any: ...

    def close(self) -> None: ...


class Raw(Protocol):
    """A connection of a driver."""

    isolation_level: str | None  # of sqlite3
    autocommit: bool  # of psycopg

    def cursor(self) -> _Cursor: ...


def library() -> ModuleType:
    """The newer of two: the SQLite that pysqlite3 carries, where that is installed, and Python's own.

    A process must not open one file with both: either would let go of the other's locks.
    """
    try:
        from pysqlite3 import dbapi2
    except ImportError:
        return sqlite3
    return dbapi2 if dbapi2.sqlite_version_info > sqlite3.sqlite_version_info else sqlite3


def version() -> str:
    """The version of the library that is used."""
    return str(library().sqlite_version)


def wal_race() -> str:
    """Whether two writers at a reset of the WAL could damage a file.

    >>> wal_race() in ("fixed", "possible before 3.51.3")
    True
    """
    is_fixed = library().sqlite_version_info >= WITHOUT_RACE
    return "fixed" if is_fixed else f"possible before {'.'.join(str(part) for part in WITHOUT_RACE)}"


def open_sqlite(url: URL) -> Engine:
    """An engine over a file, which is made with its folder if absent, for its owner alone."""
    file = Path(url.database or "")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):  # what cannot be made is said when it is connected to
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))  # its journals get the same mode
    engine = create_engine(url, module=library(), **POOL, connect_args={"timeout": BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def has_disk_space(url: URL) -> bool:
    """Whether the disk has MIN_FREE_BYTES left."""
    return shutil.disk_usage(Path(url.database or "").parent).free >= MIN_FREE_BYTES


def integrity_error(db: Connection) -> str | None:
    """What a quick look finds broken in the file, seconds for a gigabyte; None if nothing."""
    answer = str(db.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
    return None if answer == "ok" else answer


def run(raw: Raw, statements: Sequence[str]) -> None:
    """Run statements on a connection that is new."""
    cursor = raw.cursor()
    for statement in statements:
        cursor.execute(statement)
    cursor.close()


def _set_up(raw: Raw, _record: object) -> None:
    raw.isolation_level = None  # the driver begins no transactions of its own; _begin does
    run(raw, _SETUP)
    _switch_to_wal(raw)


def _switch_to_wal(raw: Raw) -> None:
    """Switch the journal; where two connections to a new file do so at once, SQLite refuses one unheard."""
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    refused = library().OperationalError
    while True:
        try:
            return run(raw, ["PRAGMA journal_mode=WAL"])
        except refused as error:  # at once: two who hold a lock each do not wait
            if "unable to open" in str(error) or time.monotonic() > give_up:
                raise
        time.sleep(WAL_RETRY_S)


def _begin(db: Connection) -> None:
    writes = db.get_execution_options().get("gnomon_writes", False)
    db.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
