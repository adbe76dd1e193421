"""Tokens of reasoning and from the provider's prompt cache, counted apart."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0006", "0005"


def upgrade() -> None:
    """Make their columns; of earlier results they are unknown."""
    op.add_column("results", sa.Column("cached_tokens", sa.BigInteger()))
    op.add_column("results", sa.Column("reasoning_tokens", sa.BigInteger()))


def downgrade() -> None:
    """Drop them: they are part of the other counts."""
    op.drop_column("results", "reasoning_tokens")
    op.drop_column("results", "cached_tokens")
