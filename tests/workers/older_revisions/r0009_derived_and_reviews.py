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
        "review_queues",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("mode", sa.String(length=8), nullable=False),
        sa.Column("choice", sa.String(length=12), nullable=False),
        sa.Column("samples", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("review_queues_by_job", "review_queues", ["job_id"])
    op.create_table(
        "reviews",
        sa.Column("queue", sa.String(length=80), nullable=False),
        sa.Column("sample_id", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("is_settlement", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("response", sa.Text()),
        sa.Column("answer", sa.Text()),
        sa.Column("score", sa.Double()),
        sa.Column("decision", sa.String(length=12)),
        sa.Column("mended", sa.Text()),
        sa.Column("note", sa.Text(), nullable=False, server_default=""),
        sa.Column("seconds", sa.Double()),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("queue", "sample_id", "reviewer", "is_settlement"),
    )


def downgrade() -> None:
    """Drop them: the first can be computed again, reviews are lost."""
    op.drop_table("reviews")
    op.drop_table("review_queues")
    op.drop_table("derived")
