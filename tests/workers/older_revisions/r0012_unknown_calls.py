"""Calls of models and tools may be unknown: outside agents need not tell of theirs."""

import re

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0012", "0011"
COUNTS = ("model_calls", "tool_calls", "tool_errors")


def upgrade() -> None:
    """Let them be null."""
    _declare(is_nullable=True)


def downgrade() -> None:
    """Let them be numbers again: what is unknown becomes 0."""
    for name in COUNTS:
        op.execute(f"UPDATE results SET {name} = 0 WHERE {name} IS NULL")
    _declare(is_nullable=False)


def _declare(*, is_nullable: bool) -> None:
    """Declare the columns so; no row is written again."""
    if op.get_context().dialect.name == "sqlite":
        _declare_in_sqlite("INTEGER" if is_nullable else "INTEGER NOT NULL")
        return
    for name in COUNTS:
        op.alter_column("results", name, existing_type=sa.Integer(), nullable=is_nullable)


def _declare_in_sqlite(form: str) -> None:
    """Change the text of the table's declaration: SQLite has no statement for it, and its manual this way."""
    connection = op.get_bind()
    tables = sa.table("sqlite_master", sa.column("type"), sa.column("name"), sa.column("sql"))
    is_results = (tables.c.type == "table") & (tables.c.name == "results")
    declared = str(connection.execute(sa.select(tables.c.sql).where(is_results)).scalar_one())
    for name in COUNTS:
        declared = re.sub(rf'(\b{name}\b"?\s+)INTEGER(\s+NOT NULL)?', rf"\g<1>{form}", declared)
    version = int(connection.exec_driver_sql("PRAGMA schema_version").scalar_one())
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.execute(tables.update().where(is_results).values(sql=declared))
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")
