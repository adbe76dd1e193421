"""Trials that run get checkpoints; those that run now have none yet."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0011", "0010"


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "checkpoints",
        sa.Column("trial_id", sa.String(length=40), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("saved_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("trial_id"),
    )


def downgrade() -> None:
    """Drop it: trials that were broken off begin anew."""
    op.drop_table("checkpoints")
