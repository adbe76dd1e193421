"""Leases are found by their worker: it renews them every few seconds, however many others there are."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0013", "0012"
LEASED = sa.text("state = 'leased'")


def upgrade() -> None:
    """Add the index."""
    op.create_index("trials_by_worker", "trials", ["worker"], sqlite_where=LEASED, postgresql_where=LEASED)


def downgrade() -> None:
    """Take it away."""
    op.drop_index("trials_by_worker", "trials")
