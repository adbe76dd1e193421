"""Preflight calls, the errors of failed trials, and how many tools each was offered."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0005", "0004"


def upgrade() -> None:
    """Make the table and the columns."""
    op.add_column("results", sa.Column("error", sa.Text(), nullable=False, server_default=""))
    op.add_column("results", sa.Column("tools_offered", sa.Integer()))
    op.create_table(
        "model_checks",
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False, server_default=""),
        sa.Column("error", sa.Text(), nullable=False, server_default=""),
        sa.Column("holder", sa.String(length=200), nullable=False, server_default=""),
        sa.Column("until", sa.Double(), nullable=False, server_default="0"),
        sa.Column("calls", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("usd", sa.Double()),
        sa.Column("tokens", sa.BigInteger()),
        sa.PrimaryKeyConstraint("job_id", "model"),
    )


def downgrade() -> None:
    """Drop them: models are called without a preflight again."""
    op.drop_table("model_checks")
    op.drop_column("results", "tools_offered")
    op.drop_column("results", "error")
