"""What became of each reply, by which rule it was read, when, and by which version of the model."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0017", "0016"
TEXTS = ("read_by", "model_version")


def upgrade() -> None:
    """Add the columns."""
    op.add_column("results", sa.Column("reply_state", sa.String(length=16)))
    for name in TEXTS:
        op.add_column("results", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    for name in ("started_at", "ended_at"):
        op.add_column("results", sa.Column(name, sa.String(length=32)))


def downgrade() -> None:
    """Take them away."""
    for name in ("ended_at", "started_at", *TEXTS, "reply_state"):
        op.drop_column("results", name)
