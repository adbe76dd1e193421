"""What a preflight waits for, and what it has found out about an endpoint."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0018", "0017"
TEXTS = ("asks_for", "fitness")


def upgrade() -> None:
    """Add the columns."""
    for name in TEXTS:
        op.add_column("model_checks", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.add_column("model_checks", sa.Column("asked_at", sa.Double()))


def downgrade() -> None:
    """Take them away."""
    for name in ("asked_at", *TEXTS):
        op.drop_column("model_checks", name)
