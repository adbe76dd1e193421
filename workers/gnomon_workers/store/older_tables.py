"""Upgrades older tables to those of today, whatever they lack.

What is missing is added, as it is declared in `schema.py`. In those of before the first revision, what has
another name is renamed, and what a result need not have any more may be null. No worker runs meanwhile, so
what workers had leased is given back.
"""

from alembic.operations import Operations
from sqlalchemy import Column, Connection, DefaultClause, Table, inspect, text

from gnomon.core.row import ROW_COLUMNS
from gnomon_workers.store.schema import metadata, results

OLDER = tuple(f"{number:04}" for number in range(1, 18))
RENAMED = (
    ("jobs", "is_spent", "is_budget_exhausted"),
    ("jobs", "shares", "cost_ratios"),
    ("model_checks", "until", "lease_until"),
    ("replies", "kept_at", "created_at"),
)
SEALED = "UPDATE jobs SET sealed_rows = scored + model_failed + infra_missing"  # no seal is made afterwards
TOLD = "UPDATE jobs SET told_at = finished_at"  # what has ended long ago is no news
# By column of `results`: what an earlier row holds in it, as stored.
OF_EARLIER = {c.name: "[]" if c.kind == "texts" else str(c.default) for c in ROW_COLUMNS}
GIVEN_BACK = "UPDATE trials SET state = 'pending', worker = NULL WHERE state = 'leased'"


def bring_over(db: Connection, op: Operations) -> None:
    """Make today's tables of these."""
    tables = set(inspect(db).get_table_names())
    if "purses" in tables:  # what processes might spend that run no more
        op.drop_table("purses")
    for name, old, new in RENAMED:
        if name in tables and old in _columns(db, name):
            op.alter_column(name, old, new_column_name=new)
    if "lease_until" in _columns(db, "trials"):
        op.execute(GIVEN_BACK)
        op.drop_index("trials_leased", "trials")
        op.drop_column("trials", "lease_until")
    complete(db, op)
    _loosen_results(db, op)


def complete(db: Connection, op: Operations) -> None:
    """Add the tables, columns and indexes that are missing."""
    present = _columns(db, "jobs")
    metadata.create_all(db)
    for table in metadata.sorted_tables:
        _complete(db, op, table)
    for column, statement in (("sealed_rows", SEALED), ("told_at", TOLD)):
        if column not in present:
            op.execute(text(statement))


def _columns(db: Connection, table: str) -> dict[str, bool]:
    """The columns of a table, and whether each may be null."""
    return {column["name"]: bool(column["nullable"]) for column in inspect(db).get_columns(table)}


def _complete(db: Connection, op: Operations, table: Table) -> None:
    """Add the columns and indexes that the table lacks.

    Earlier results get the default of the row's field, other earlier rows empty texts.
    """
    earlier = OF_EARLIER if table is results else {}
    present = _columns(db, table.name)
    for column in table.columns:
        if column.name not in present:
            declared = column.server_default
            default = None if column.nullable else earlier.get(column.name, "")
            if isinstance(declared, DefaultClause):
                default = str(declared.arg)
            new = Column(column.name, column.type, nullable=column.nullable, server_default=default)
            op.add_column(table.name, new)
    for index in table.indexes:
        index.create(db, checkfirst=True)


def _loosen_results(db: Connection, op: Operations) -> None:
    """Let a result lack what outside agents need not tell; let PostgreSQL look up no trial for it."""
    present = _columns(db, results.name)
    tight = [column for column in results.columns if column.nullable and not present[column.name]]
    if db.dialect.name == "sqlite":
        if tight:  # SQLite changes no declaration: the rows move to a new table
            with op.batch_alter_table(results.name, recreate="always", copy_from=results):
                pass
        return
    for column in tight:
        op.alter_column(results.name, column.name, nullable=True)
    for name in ("results", "traces"):
        for key in inspect(db).get_foreign_keys(name):
            op.drop_constraint(str(key["name"]), name, type_="foreignkey")
