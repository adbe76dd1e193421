"""What calls have cost, for all processes of a job."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0004", "0003"


def upgrade() -> None:
    """Make its column."""
    op.add_column("jobs", sa.Column("shares", sa.Text(), nullable=False, server_default="{}"))


def downgrade() -> None:
    """Drop it: each process finds out by itself again."""
    op.drop_column("jobs", "shares")
