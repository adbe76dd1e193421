"""Opens a database: one engine, two kinds of transaction, and the clock that leases are judged by."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from operator import itemgetter
from typing import Any, Self, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Insert,
    Table,
    create_engine,
    event,
    func,
    insert,
    inspect,
    literal,
    select,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    OperationalError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.pool import ConnectionPoolEntry

from gnomon.core.errors import DataError, SpecError, Unavailable
from gnomon_workers.store.schema import REVISION, alembic_version, lease_holders, metadata, results
from gnomon_workers.store.sqlite import (
    BUSY_TIMEOUT_S,
    POOL,
    has_disk_space,
    integrity_error,
    library,
    open_sqlite,
)

_ALIVE = {  # a server that is silent beyond that is away: a partition leaves no connection waiting for ever
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
PING, WRITTEN_FOR_S = "ping", 1.0  # the holder that a look at the database writes, and how often it does
STALLED_S = 10.0  # PostgreSQL ends a transaction whose client is silent for so long: its locks stop others
MAKING_TABLES = 0x676E6F6D6F6E  # the advisory lock of PostgreSQL under which tables are made
_TIMEOUTS = {
    "lock_timeout": int(BUSY_TIMEOUT_S * 1000),
    "idle_in_transaction_session_timeout": int(STALLED_S * 1000),
}
_OF_SESSION = "; ".join(f"SET {name} = {value_ms}" for name, value_ms in _TIMEOUTS.items())
_OF_TRANSACTION = "; ".join(f"SET LOCAL {name} = {value_ms}" for name, value_ms in _TIMEOUTS.items())
_PREPARED_AFTER = 5  # runs of a statement on one connection; psycopg's default
IS_POOLED = "gnomon_is_pooled"  # in the info of a connection
ALONE = {"isolation_level": "AUTOCOMMIT"}  # of a connection whose statements are a transaction each
_READ_ONLY = "25006"  # of PostgreSQL where it takes no write: on a replica, or as its owner wants it


class ReadOnly(OperationalError):
    """The database can only be read now."""


class Database:
    """An engine with a schema. Safe to share between threads; call `close` before a fork.

    A context manager too, which closes it at its end.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] | None = None) -> None:
        self.url, self._clock = url, clock
        self._engine = _open(url)
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        self._written_s = -math.inf  # of time.monotonic: when `ping` last wrote
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make the tables in a new database; refuse one that has tables of another revision.

        Where they are as they should be, nothing is locked: a thousand workers may start at once.
        """
        with self.reading() as db:
            if revision_of(db) == REVISION:
                _check_results(db)
                return
        with self.writing() as db:
            self._lock_tables(db)
            if metadata.tables.keys() & set(inspect(db).get_table_names()):
                _check(revision_of(db))
                _check_results(db)
            else:
                metadata.create_all(db)
                db.execute(insert(alembic_version).values(version_num=REVISION))

    def _lock_tables(self, db: Connection) -> None:
        """Let no other transaction make or change tables now; a transaction of SQLite does so by itself."""
        if not self._is_sqlite:
            db.execute(select(func.pg_advisory_xact_lock(MAKING_TABLES)))

    def advisory_lock(self, db: Connection, name: str) -> None:
        """Block other transactions that lock this name until this one ends; SQLite runs one at a time."""
        if not self._is_sqlite:
            db.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection whose first statement begins a consistent view; until then it may be handed to
        `writing`.
        """
        with self._engine.connect() as db:
            yield db

    @contextmanager
    def writing(self, on: Connection | None = None) -> Iterator[Connection]:
        """A transaction, `on` a connection that is in none if one is given. On SQLite it may write from its
        start on: it waits for others, never gives up.
        """
        opened = nullcontext(on) if on is not None else self._engine.connect()
        with opened as db, db.execution_options(gnomon_writes=True).begin():
            yield db

    def now(self, db: Connection) -> float:
        """Seconds since 1970 by the database's clock: hosts need not agree. SQLite's is this machine's."""
        if self._clock is not None:
            return self._clock()
        if self._is_sqlite:
            return time.time()
        return float(db.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())

    def ping(self) -> str:
        """Dialect and version of a database that answers and can be written: it was, up to a second ago.

        Raises:
            Unavailable: its disk is full; of PostgreSQL that cannot be seen from here.
            sqlalchemy.exc.SQLAlchemyError: it does not answer, or takes nothing.
        """
        self.check_disk_space()
        if time.monotonic() - self._written_s > WRITTEN_FOR_S:
            with self.writing() as db:
                insert_or_update(db, lease_holders, {"worker": PING, "lease_until": self.now(db)})
            self._written_s = time.monotonic()
        with self.reading() as db:
            db.execute(select(1)).scalar_one()
            version = ".".join(str(part) for part in db.dialect.server_version_info or ())
            return f"{db.dialect.name} {version}"

    def check_disk_space(self) -> None:
        """Make sure that another job could be kept.

        Raises:
            Unavailable: the disk under the SQLite file is full.
        """
        if self._is_sqlite and not has_disk_space(self._engine.url):
            raise Unavailable("the disk of the database is full: free some space")

    def check_integrity(self) -> None:
        """Make sure that the file is not damaged. PostgreSQL looks after itself.

        Raises:
            DataError: it is; the message says how.
        """
        if self._is_sqlite:
            with self.reading() as db:
                damage = integrity_error(db)
            if damage is not None:
                raise DataError(
                    f"the file is damaged ({damage}): restore a backup", field="GNOMON_DATABASE_URL"
                )

    def close(self) -> None:
        """Close every connection; the next use opens new ones."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AnyRevision(Database):
    """A database whatever its revision, and whether it has tables or none."""

    def _prepare(self) -> None:
        """Leave the tables alone."""


def is_passing(error: Exception) -> bool:
    """Whether the same write may succeed later: the database is away, busy or full, or its answer was lost.

    Else it is what is written that the database, or the driver, does not take.
    """
    if isinstance(error, InterfaceError):  # of SQLite: a value of an unknown type
        return not isinstance(error.orig, library().Error)
    if isinstance(error, StatementError) and not isinstance(error, OperationalError):
        return bool(getattr(error, "connection_invalidated", False))
    return isinstance(error, SQLAlchemyError | OSError | MemoryError)


def in_words(error: Exception) -> str:
    """What an error says, without the statement and the values that SQLAlchemy repeats."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}: {cause}".splitlines()[0][:300]


def why_away(error: Exception) -> str:
    """What is wrong with a store that is away, without its address."""
    is_read_only = isinstance(error, ReadOnly)
    return f"the store {'can only be read' if is_read_only else 'cannot be reached, or cannot write'}"


def insert_all(db: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of the same columns; nothing is returned. On PostgreSQL COPY takes a fifth of INSERT."""
    if rows and db.dialect.name == "postgresql":
        _copy_all(db, table, rows)
    elif rows:
        db.execute(insert(table), rows)


def among(
    db: Connection, columns: Sequence[Column[Any]], values: Sequence[tuple[Any, ...]]
) -> ColumnElement[bool]:
    """Whether these columns of a row are one of these tuples of values.

    PostgreSQL is given one array for each column: a statement of the same text for any number of rows, which
    is planned once and looks each one up by its key. For a list of pairs it reads an index of all that is
    leased.
    """
    if db.dialect.name != "postgresql" or not values:
        return tuple_(*columns).in_(values)
    names = [column.name for column in columns]
    arrays = [
        literal(list(of_column), postgresql.ARRAY(column.type))
        for column, of_column in zip(columns, zip(*values, strict=True), strict=True)
    ]
    listed = func.unnest(*arrays).table_valued(*names).render_derived()
    return tuple_(*columns).in_(select(*(listed.c[name] for name in names)))


def insert_or_update(db: Connection, table: Table, values: Mapping[str, Any]) -> None:
    """Insert a row, or give the one with the same primary key these values."""
    db.execute(_insert_or_update(db.dialect.name, table, tuple(values)), values)


@cache
def _insert_or_update(dialect: str, table: Table, names: Sequence[str]) -> Insert:
    """The statement for these columns, made once: to make it takes longer than to run it."""
    new = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    keys = [column.name for column in table.primary_key]
    changed = {name: new.excluded[name] for name in names if name not in keys}
    statement: Insert = new.on_conflict_do_update(index_elements=keys, set_=changed)
    return statement


def _copy_all(db: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    names = list(rows[0])
    statement = f"COPY {table.name} ({', '.join(names)}) FROM STDIN"
    values = itemgetter(*names)
    cursor: Any = db.connection.cursor()
    with errors_of_driver(db, statement), cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(values(row))


@contextmanager
def errors_of_driver(db: Connection, statement: str) -> Iterator[None]:
    """Make errors of what SQLAlchemy does not know, such as COPY, as it makes its own."""
    driver = db.dialect.loaded_dbapi
    try:
        yield
    except driver.Error as error:
        is_gone = db.dialect.is_disconnect(error, db.connection.dbapi_connection, None)
        raise _read_only(error, statement) or DBAPIError.instance(
            statement, None, error, driver.Error, connection_invalidated=is_gone, dialect=db.dialect
        ) from error


def _read_only(error: BaseException, statement: str | None) -> ReadOnly | None:
    """What a driver's error is if it says that nothing can be written; PostgreSQL's would not be passing."""
    is_read_only = getattr(error, "sqlstate", None) == _READ_ONLY or "readonly database" in str(error)
    return ReadOnly(statement, None, error) if is_read_only else None


def _note_read_only(context: ExceptionContext) -> ReadOnly | None:
    return _read_only(context.original_exception, context.statement)


def _open(url: str) -> Engine:
    engine = _engine(url)
    event.listen(engine, "handle_error", _note_read_only, retval=True)
    return engine


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise _unusable("it is no URL") from None
    if parsed.drivername in ("sqlite", "sqlite+pysqlite"):
        if not parsed.database or parsed.database == ":memory:":
            raise _unusable("a database in memory cannot be shared")
        return open_sqlite(parsed)
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        if find_spec("psycopg") is None:
            raise _unusable("PostgreSQL needs `pip install gnomon-eval[postgresql]`")
        return _open_postgresql(parsed.set(drivername="postgresql+psycopg"))
    raise _unusable(f"{parsed.drivername!r} is of another kind")


def _unusable(reason: str) -> SpecError:
    return SpecError(f"{reason}; allowed: sqlite:///FILE, postgresql://…", field="GNOMON_DATABASE_URL")


def revision_of(db: Connection) -> str | None:
    """The revision of the tables; None where none is noted."""
    if not inspect(db).has_table(alembic_version.name):
        return None
    return db.execute(select(alembic_version.c.version_num)).scalar_one_or_none()


def _check(revision: str | None) -> None:
    if revision == REVISION:
        return
    if revision is None:
        raise _unusable("it holds tables that are not of this Gnomon, or older than its revisions")
    raise SpecError(
        f"the database has revision {revision}, this Gnomon needs {REVISION}: run `gnomon database upgrade`",
        field="GNOMON_DATABASE_URL",
    )


def _check_results(db: Connection) -> None:
    """Refuse a table of results whose columns are not those of a row, whatever its revision says.

    A column that is added from outside does no harm where results can be written without it.
    """
    if not inspect(db).has_table(results.name):
        raise _unusable(f"it lacks the table {results.name}: it is not of revision {REVISION}")
    stored = {column["name"]: column for column in inspect(db).get_columns(results.name)}
    needed = [name for name, column in stored.items() if not column["nullable"] and column["default"] is None]
    for message, names in (
        ("lacks", [column.name for column in results.c if column.name not in stored]),
        ("must not have", [name for name in needed if name not in results.c]),
    ):
        if names:
            columns = ", ".join(names)
            raise _unusable(f"its table {results.name} {message} {columns}: it is not of revision {REVISION}")


def _open_postgresql(url: URL) -> Engine:
    engine = create_engine(
        url, pool_pre_ping=True, **POOL, connect_args={**_ALIVE, "prepare_threshold": None}
    )
    event.listen(engine, "connect", _set_up_postgresql)
    event.listen(engine, "begin", begin_postgresql)
    return engine


def _set_up_postgresql(raw: Any, record: ConnectionPoolEntry) -> None:
    """Find out whether a pooler lends this connection by transactions; else it keeps settings and statements.

    A pooler invents the process id that a client is told when it connects: it may have no server for it yet.
    """
    raw.autocommit = True
    pid = raw.execute("SELECT pg_backend_pid()").fetchone()[0]
    record.info[IS_POOLED] = raw.pgconn.backend_pid != pid
    if not record.info[IS_POOLED]:
        raw.execute(_OF_SESSION)
        raw.prepare_threshold = _PREPARED_AFTER
        raw.autocommit = False


def begin_postgresql(db: Connection) -> None:
    """Begin a transaction. Behind a pooler its timeouts are set with it, in one round trip."""
    if db.get_execution_options().get("isolation_level") == ALONE["isolation_level"]:
        return
    isolation = "READ_COMMITTED" if db.get_execution_options().get("gnomon_writes") else "REPEATABLE_READ"
    raw: Any = db.connection.dbapi_connection
    if db.info[IS_POOLED]:
        if not raw.autocommit:  # SQLAlchemy turns it off once a statement stood ALONE
            raw.autocommit = True
        level = isolation.replace("_", " ")
        plain = {"stream_results": False, "yield_per": None}  # whatever the statement that comes next wants
        db.exec_driver_sql(f"BEGIN ISOLATION LEVEL {level}; {_OF_TRANSACTION}", execution_options=plain)
    else:  # the driver begins it with the first statement
        raw.isolation_level = cast(Any, db.dialect.loaded_dbapi).IsolationLevel[isolation]
