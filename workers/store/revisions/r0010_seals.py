"""Jobs get a seal; those that have ended already are not sealed afterwards."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0010", "0009"


def upgrade() -> None:
    """Make its table."""
    op.create_table(
        "seals",
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("is_stamped", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "number"),
    )
    op.create_index(
        "seals_unstamped",
        "seals",
        ["at"],
        sqlite_where=sa.text("is_stamped = 0"),
        postgresql_where=sa.text("is_stamped = 0"),
    )
    op.add_column("jobs", sa.Column("sealed_rows", sa.Integer()))
    op.execute("UPDATE jobs SET sealed_rows = scored + model_failed + infra_missing")


def downgrade() -> None:
    """Drop it: the seals are lost."""
    op.drop_column("jobs", "sealed_rows")
    op.drop_table("seals")
