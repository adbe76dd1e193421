"""What batches of results change in a job's counters is kept beside its row until someone adds it up."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0015", "0014"
COUNTERS = {
    "scored": sa.Integer,
    "model_failed": sa.Integer,
    "infra_missing": sa.Integer,
    "leased": sa.Integer,
    "known_usd": sa.Double,
    "unknown_usd": sa.Integer,
    "known_tokens": sa.BigInteger,
    "unknown_tokens": sa.Integer,
}


def upgrade() -> None:
    """Add the table; nothing waits in it yet."""
    op.create_table(
        "job_counts",
        sa.Column("job_id", sa.String(40), nullable=False),
        *(sa.Column(name, kind(), nullable=False) for name, kind in COUNTERS.items()),
    )
    op.create_index("job_counts_by_job", "job_counts", ["job_id"])


def downgrade() -> None:
    """Move what waits into the jobs' rows."""
    jobs = sa.table("jobs", sa.column("id"), *map(sa.column, COUNTERS))
    counts = sa.table("job_counts", sa.column("job_id"), *map(sa.column, COUNTERS))
    here = counts.c.job_id == jobs.c.id
    sums = {
        name: jobs.c[name] + sa.select(sa.func.sum(counts.c[name])).where(here).scalar_subquery()
        for name in COUNTERS
    }
    op.execute(sa.update(jobs).where(jobs.c.id.in_(sa.select(counts.c.job_id))).values(sums))
    op.drop_table("job_counts")
