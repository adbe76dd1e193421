"""Until when a job waits for a model's provider, and in whose words."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0007", "0006"


def upgrade() -> None:
    """Make the columns; nothing waits yet."""
    op.add_column("model_checks", sa.Column("waits_until", sa.Double()))
    op.add_column("model_checks", sa.Column("waits_for", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop them: waits are reported again."""
    op.drop_column("model_checks", "waits_for")
    op.drop_column("model_checks", "waits_until")
