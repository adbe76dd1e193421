"""A lease lasts as long as its worker says, in one row; a job counts its leases."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0014", "0013"
LEASED = sa.text("state = 'leased'")


def upgrade() -> None:
    """Gather what workers hold, and count it."""
    op.create_table(
        "lease_holders",
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("worker"),
    )
    op.add_column("jobs", sa.Column("leased", sa.Integer(), nullable=False, server_default="0"))
    op.execute("UPDATE trials SET state = 'pending' WHERE state = 'leased' AND worker IS NULL")
    op.execute(
        "INSERT INTO lease_holders (worker, lease_until)"
        " SELECT worker, max(coalesce(lease_until, 0)) FROM trials WHERE state = 'leased' GROUP BY worker"
    )
    op.execute(
        "UPDATE jobs SET leased ="
        " (SELECT count(*) FROM trials WHERE trials.job_id = jobs.id AND trials.state = 'leased')"
    )
    _index_leased("job_id", "shard")
    op.drop_column("trials", "lease_until")


def downgrade() -> None:
    """Give each leased trial its worker's time again."""
    op.add_column("trials", sa.Column("lease_until", sa.Double()))
    op.execute(
        "UPDATE trials SET lease_until ="
        " (SELECT lease_until FROM lease_holders WHERE lease_holders.worker = trials.worker)"
        " WHERE state = 'leased'"
    )
    _index_leased("job_id", "shard", "lease_until")
    op.drop_column("jobs", "leased")
    op.drop_table("lease_holders")


def _index_leased(*columns: str) -> None:
    op.drop_index("trials_leased", "trials")
    op.create_index("trials_leased", "trials", list(columns), sqlite_where=LEASED, postgresql_where=LEASED)
