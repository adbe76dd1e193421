"""Adds who posted a job, who did what with it, what it may have spent, and what stays of a deleted one."""

from alembic import op

from gnomon_workers.store.older_tables import complete

revision, down_revision = "0019", "0018"


def upgrade() -> None:
    """Add what is missing."""
    complete(op.get_bind(), op)  # type: ignore[arg-type]


def downgrade() -> None:
    """Who posted, cancelled and looked at jobs, deleted jobs, costs that nobody told, jobs being prepared."""
    # Jobs without trials go too: the revision before does not know them.
    unmade = "(SELECT id FROM jobs WHERE shard_size = 0)"
    op.execute(f"DELETE FROM trials WHERE job_id IN {unmade}")  # noqa: S608 no text of others
    op.execute("DELETE FROM jobs WHERE shard_size = 0")
    for table in ("notices", "activity", "deleted_jobs"):
        op.drop_table(table)
    for column in ("told_at", "owner", "posted_by", "possible_usd", "possible_tokens"):
        op.drop_column("jobs", column)
