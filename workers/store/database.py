"""Database: one engine, its two kinds of transaction, and the clock that leases are judged by."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from gnomon.errors import SpecError
from workers.store.schema import metadata

BUSY_TIMEOUT_S = 30.0
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "foreign_keys=ON",
    f"busy_timeout={int(BUSY_TIMEOUT_S * 1000)}",
    "mmap_size=0",
)


class _Cursor(Protocol):
    def execute(self, statement: str) -> Any: ...

    def close(self) -> None: ...


class _Raw(Protocol):
    isolation_level: str | None

    def cursor(self) -> _Cursor: ...


class Database:
    """An engine with a schema. Safe to share between threads; call `close` before a fork."""

    def __init__(self, url: str, *, clock: Callable[[], float] | None = None) -> None:
        self.url, self._clock = url, clock
        self._engine = _open(url)
        metadata.create_all(self._engine)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A consistent view; writes nothing."""
        with self._engine.connect() as db:
            yield db

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that owns the right to write from its start: it may wait, but need not give up."""
        with self._engine.connect().execution_options(gnomon_writes=True) as db, db.begin():
            yield db

    def now(self, db: Connection) -> float:
        """Seconds since 1970 by the database's clock: hosts need not agree. SQLite's is this machine's."""
        if self._clock is not None:
            return self._clock()
        if db.dialect.name == "sqlite":
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
        engine = create_engine(
            parsed, connect_args={"timeout": BUSY_TIMEOUT_S} if parsed.get_backend_name() == "sqlite" else {}
        )
    except (ArgumentError, ImportError) as error:
        message = f"no database that can be opened ({error}); use sqlite:///FILE or postgresql+psycopg://…"
        raise SpecError(message, field="GNOMON_DATABASE_URL") from None
    if engine.dialect.name == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise SpecError("a database in memory cannot be shared; name a file", field="GNOMON_DATABASE_URL")
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(raw: _Raw, _record: object) -> None:
    raw.isolation_level = None  # the driver begins no transactions of its own; _begin_sqlite does
    cursor = raw.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(db: Connection) -> None:
    writes = db.get_execution_options().get("gnomon_writes", False)
    db.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
