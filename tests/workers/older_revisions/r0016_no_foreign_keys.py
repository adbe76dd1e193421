"""PostgreSQL looks up no trial again for each result and trace: whoever writes them has just closed it.

SQLite would have to write both tables anew, and its look-up costs next to nothing.
"""

from alembic import op

revision, down_revision = "0016", "0015"
TABLES = ("results", "traces")


def upgrade() -> None:
    """Drop both constraints."""
    if op.get_context().dialect.name == "postgresql":
        for table in TABLES:
            op.drop_constraint(f"{table}_trial_id_fkey", table, type_="foreignkey")


def downgrade() -> None:
    """Add them again; each result is looked up, and one without a trial would be in the way."""
    if op.get_context().dialect.name == "postgresql":
        for table in TABLES:
            op.execute(f"DELETE FROM {table} WHERE trial_id NOT IN (SELECT trial_id FROM trials)")
            name, columns = f"{table}_trial_id_fkey", ["trial_id"]
            op.create_foreign_key(name, table, "trials", columns, columns, ondelete="CASCADE")
