"""Jobs get a seal, and those that may stop early their looks; what has ended is not sealed afterwards."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0010", "0009"


def upgrade() -> None:
    """Make their tables."""
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
    op.create_table(
        "looks",
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "number"),
    )
    op.add_column("jobs", sa.Column("sealed_rows", sa.Integer()))
    op.execute("UPDATE jobs SET sealed_rows = scored + model_failed + infra_missing")


def downgrade() -> None:
    """Drop them: the seals and the times of looks are lost."""
    op.drop_column("jobs", "sealed_rows")
    op.drop_table("looks")
    op.drop_table("seals")
