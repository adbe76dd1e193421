"""What can be computed again from results, and what reviewers say of samples."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0009", "0008"


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "derived",
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "kind"),
    )
    op.create_table(
        "reviews",
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("sample_id", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("note", sa.Text(), nullable=False, server_default=""),
        sa.Column("seconds", sa.Double()),
        sa.Column("saw_truth", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("queue", "sample_id", "reviewer"),
    )


def downgrade() -> None:
    """Drop them: the first can be computed again, reviews are lost."""
    op.drop_table("reviews")
    op.drop_table("derived")
