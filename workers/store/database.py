"""Database: one engine, its two kinds of transaction, and the clock that leases are judged by."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from gnomon.errors import SpecError
from workers.store.schema import REVISION, marks, metadata

BUSY_TIMEOUT_S = 30.0
STALLED_S = 10.0  # PostgreSQL ends a transaction whose client is silent for so long: its locks stop others
MAKING_TABLES = 0x676E6F6D6F6E  # the advisory lock of PostgreSQL under which tables are made
WAL_RETRY_S = 0.02
_SQLITE_SETUP = (
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={int(BUSY_TIMEOUT_S * 1000)}",
    "PRAGMA mmap_size=0",
)
_POSTGRESQL_SETUP = (
    f"SET lock_timeout = {int(BUSY_TIMEOUT_S * 1000)}",
    f"SET idle_in_transaction_session_timeout = {int(STALLED_S * 1000)}",
)


class _Cursor(Protocol):
    def execute(self, statement: str) -> Any: ...

    def close(self) -> None: ...


class _Raw(Protocol):
    isolation_level: str | None  # of sqlite3
    autocommit: bool  # of psycopg

    def cursor(self) -> _Cursor: ...


class Database:
    """An engine with a schema. Safe to share between threads; call `close` before a fork."""

    def __init__(self, url: str, *, clock: Callable[[], float] | None = None) -> None:
        self.url, self._clock = url, clock
        self._engine = _open(url)
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        snapshot = {} if self._is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._readers = self._engine.execution_options(**snapshot)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make the tables in a new database; refuse one that has tables of another revision."""
        with self.writing() as db:
            self._lock_tables(db)
            if metadata.tables.keys() & set(inspect(db).get_table_names()):
                _check(revision_of(db))
            else:
                metadata.create_all(db)
                db.execute(insert(marks).values(version_num=REVISION))

    def _lock_tables(self, db: Connection) -> None:
        """Let nobody else make or change tables now; where a transaction does not do so by itself."""
        if not self._is_sqlite:
            db.execute(select(func.pg_advisory_xact_lock(MAKING_TABLES)))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view; writes nothing."""
        with self._readers.connect() as db:
            yield db

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction. On SQLite it may write from its start on: it waits for others, never gives up."""
        with self._engine.connect().execution_options(gnomon_writes=True) as db, db.begin():
            yield db

    def now(self, db: Connection) -> float:
        """Seconds since 1970 by the database's clock: hosts need not agree. SQLite's is this machine's."""
        if self._clock is not None:
            return self._clock()
        if self._is_sqlite:
            return time.time()
        return float(db.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())

    def ping(self) -> str:
        """Dialect and version of a database that answers.

        Raises:
            sqlalchemy.exc.OperationalError: it does not.
        """
        with self.reading() as db:
            db.execute(select(1)).scalar_one()
            version = ".".join(str(part) for part in db.dialect.server_version_info or ())
            return f"{db.dialect.name} {version}"

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        self._engine.dispose()


def _open(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise _unusable("it is no URL") from None
    if parsed.drivername in ("sqlite", "sqlite+pysqlite"):
        return _open_sqlite(parsed)
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return _open_postgresql(parsed.set(drivername="postgresql+psycopg"))
    raise _unusable(f"{parsed.drivername!r} is of another kind")


def _unusable(reason: str) -> SpecError:
    return SpecError(f"{reason}; allowed: sqlite:///FILE, postgresql://…", field="GNOMON_DATABASE_URL")


def revision_of(db: Connection) -> str | None:
    """The revision of the tables; None where none is noted."""
    if not inspect(db).has_table(marks.name):
        return None
    return db.execute(select(marks.c.version_num)).scalar_one_or_none()


def _check(found: str | None) -> None:
    if found == REVISION:
        return
    if found is None:
        raise _unusable("it holds tables that are not of this Gnomon, or older than its revisions")
    raise SpecError(
        f"the database has revision {found}, this Gnomon needs {REVISION}: run `gnomon database upgrade`",
        field="GNOMON_DATABASE_URL",
    )


def _open_sqlite(url: URL) -> Engine:
    if not url.database or url.database == ":memory:":
        raise _unusable("a database in memory cannot be shared")
    Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _open_postgresql(url: URL) -> Engine:
    engine = create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": int(STALLED_S)})
    event.listen(engine, "connect", _set_up_postgresql)
    return engine


def _set_up_sqlite(raw: _Raw, _record: object) -> None:
    raw.isolation_level = None  # the driver begins no transactions of its own; _begin_sqlite does
    _run(raw, _SQLITE_SETUP)
    _switch_to_wal(raw)


def _switch_to_wal(raw: _Raw) -> None:
    """Switch the journal; where two connections to a new file do so at once, SQLite refuses one unheard."""
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            return _run(raw, ["PRAGMA journal_mode=WAL"])
        except sqlite3.OperationalError:  # at once: two who hold a lock each do not wait
            if time.monotonic() > give_up:
                raise
        time.sleep(WAL_RETRY_S)


def _set_up_postgresql(raw: _Raw, _record: object) -> None:
    raw.autocommit = True
    _run(raw, _POSTGRESQL_SETUP)
    raw.autocommit = False


def _run(raw: _Raw, statements: Sequence[str]) -> None:
    cursor = raw.cursor()
    for statement in statements:
        cursor.execute(statement)
    cursor.close()


def _begin_sqlite(db: Connection) -> None:
    writes = db.get_execution_options().get("gnomon_writes", False)
    db.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
