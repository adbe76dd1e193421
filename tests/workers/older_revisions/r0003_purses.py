"""What processes may spend of a job's limits."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0003", "0002"


def upgrade() -> None:
    """Make its table."""
    op.add_column("jobs", sa.Column("is_spent", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "purses",
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("usd", sa.Double(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("holder"),
    )
    op.create_index("purses_by_job", "purses", ["job_id"])


def downgrade() -> None:
    """Drop it: limits are looked at between trials again."""
    op.drop_index("purses_by_job", table_name="purses")
    op.drop_table("purses")
    op.drop_column("jobs", "is_spent")
