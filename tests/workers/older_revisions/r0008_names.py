"""Tables and columns get the names of what they hold; no row is written again."""

from alembic import op

revision, down_revision = "0008", "0007"
COLUMNS = (
    ("jobs", "is_spent", "is_budget_exhausted"),
    ("jobs", "shares", "cost_ratios"),
    ("model_checks", "until", "lease_until"),
    ("replies", "kept_at", "created_at"),
)


def upgrade() -> None:
    """Rename them."""
    for table, old, new in COLUMNS:
        op.alter_column(table, old, new_column_name=new)  # in place, with its indexes
    _rename_reservations("purses", "until", "budget_reservations", "expires_at")


def downgrade() -> None:
    """Give them their old names."""
    _rename_reservations("budget_reservations", "expires_at", "purses", "until")
    for table, old, new in COLUMNS:
        op.alter_column(table, new, new_column_name=old)


def _rename_reservations(old: str, old_time: str, new: str, new_time: str) -> None:
    op.alter_column(old, old_time, new_column_name=new_time)
    op.drop_index(f"{old}_by_job", table_name=old, if_exists=True)  # a row per process: quick to make again
    op.rename_table(old, new)
    op.create_index(f"{new}_by_job", new, ["job_id"])
    if op.get_context().dialect.name == "postgresql":
        op.execute(f"ALTER INDEX IF EXISTS {old}_pkey RENAME TO {new}_pkey")
