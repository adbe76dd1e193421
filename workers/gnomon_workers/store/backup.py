"""Copies a database as it is at one moment into a file of SQLite, and such a file into a database.

Either may be SQLite or PostgreSQL, so a backup also moves from one to the other. Others go on reading and
writing while a copy is made; they wait while one is put back.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, MetaData, Table, func, insert, select, text
from sqlalchemy.exc import OperationalError

from gnomon.core.errors import Conflict, DataError, SpecError, Unavailable
from gnomon_workers.store.database import AnyRevision, Database, insert_all, revision_of
from gnomon_workers.store.migration import migrate
from gnomon_workers.store.schema import alembic_version, derived, jobs, metadata

READ_ROWS = 2_000
LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's code
LOCK_WAIT_MS, LOCKED_WITHIN_S = 300, 60.0  # of one try, below PostgreSQL's second; of all tries
KEPT = [table for table in metadata.sorted_tables if table is not alembic_version]
COPIED = {table.name for table in KEPT if table is not derived}  # what is derived is computed again
Rows = Mapping[str, int]  # how many, by table


def copy_out(url: str, file: Path) -> tuple[str, Rows]:
    """Copy the database at `url` to a new file of SQLite; its revision, which may be an older one, and rows.

    Raises:
        SpecError: there is nothing of Gnomon's in it.
    """
    with (
        closing(AnyRevision(url)) as source,
        closing(AnyRevision(f"sqlite:///{file}")) as target,
        source.reading() as db,
        target.writing() as copy,
    ):
        revision = revision_of(db)
        if revision is None:
            raise SpecError(
                "the database has no tables of Gnomon: name one that has", field="GNOMON_DATABASE_URL"
            )
        tables = MetaData()
        tables.reflect(db, only=lambda name, _: name in COPIED)
        for column in (column for table in tables.sorted_tables for column in table.columns):
            column.type, column.server_default = column.type.as_generic(), None
        tables.create_all(copy)
        alembic_version.create(copy)
        copy.execute(insert(alembic_version).values(version_num=revision))
        return revision, {table.name: _copy(db, copy, table) for table in tables.sorted_tables}


def copy_in(file: Path, url: str, *, rows: Rows, replaces: bool) -> None:
    """Put a copy in the place of all that the database at `url` holds, or, where anything fails, nothing.

    The copy is brought to today's revision first; `rows` are what it was made with.

    Raises:
        Conflict: the database holds jobs, and it `replaces` none.
        DataError: the copy holds other rows than it was made with.
        SpecError: one of the two is of another revision, or no database of Gnomon's.
        Unavailable: others used the database all the time.
    """
    copied = f"sqlite:///{file}"
    with closing(AnyRevision(copied)) as source, source.reading() as copy:
        found = {name: _count(copy, metadata.tables[name]) for name in rows if name in COPIED}
    if found != dict(rows):
        differ = [name for name in rows if found.get(name) != rows[name]]
        counts = ", ".join(f"{name} {found.get(name, 0):,} of {rows[name]:,}" for name in differ)
        raise DataError(f"the backup holds other rows than it was made with: {counts}", field="FILE")
    migrate(copied)
    with (
        closing(AnyRevision(copied)) as source,
        closing(Database(url)) as target,
        source.reading() as copy,
        target.writing() as db,
    ):
        _lock(db)
        held = _count(db, jobs)
        if held and not replaces:
            message = f"the database holds {held:,} jobs; --replace puts the backup in their place"
            raise Conflict(message, field="--replace")
        for table in reversed(KEPT):
            db.execute(table.delete())
        for table in KEPT:
            if table.name in COPIED:
                _copy(copy, db, table)
            _number_on(db, table)


def _copy(source: Connection, target: Connection, table: Table) -> int:
    """Copy all rows of a table; how many they were."""
    count = 0
    found = source.execute(select(table), execution_options={"yield_per": READ_ROWS})
    for rows in found.mappings().partitions():
        insert_all(target, table, cast(Sequence[Mapping[str, Any]], rows))
        count += len(rows)
    return count


def _count(db: Connection, table: Table) -> int:
    return db.execute(select(func.count()).select_from(table)).scalar_one()


def _lock(db: Connection) -> None:
    """Let nobody read or write the tables until this transaction ends; one of SQLite is alone by itself.

    Others lock the same tables in their own order, so each of two may wait for the other. PostgreSQL would
    end one of them after a second: what was locked here is given back before that, and tried again.
    """
    if db.dialect.name != "postgresql":
        return
    names = ", ".join(table.name for table in metadata.sorted_tables)
    until_s = time.monotonic() + LOCKED_WITHIN_S
    while True:
        try:
            with db.begin_nested():
                db.execute(text(f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}"))
                db.execute(text(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE"))
            return
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                raise
            if time.monotonic() > until_s:
                used = f"others used the database for {LOCKED_WITHIN_S:g} s"
                raise Unavailable(f"{used}; stop the workers, or try again") from error


def _number_on(db: Connection, table: Table) -> None:
    """Let new rows have numbers above those of the backup, and above all that were given here."""
    column = table.autoincrement_column
    if column is not None and db.dialect.name == "postgresql":
        numbers = func.pg_get_serial_sequence(table.name, column.name)
        highest = select(func.coalesce(func.max(column), 0)).scalar_subquery()
        db.execute(select(func.setval(numbers, func.greatest(highest, func.nextval(numbers)))))
