"""The response cache."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "0001"


def upgrade() -> None:
    """Make its table."""
    op.create_table(
        "replies",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("scope", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("replies_by_scope", "replies", ["scope"])
    op.create_index("replies_by_age", "replies", ["kept_at"])


def downgrade() -> None:
    """Drop it: replies will be paid again."""
    op.drop_index("replies_by_age", table_name="replies")
    op.drop_index("replies_by_scope", table_name="replies")
    op.drop_table("replies")
