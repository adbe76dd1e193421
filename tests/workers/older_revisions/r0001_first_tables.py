"""The tables as they were first kept: jobs, trials, results, traces, workers."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0001", None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "jobs",
        sa.Column("number", _serial(), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("spec_hash", sa.String(length=40), nullable=False),
        sa.Column("idempotency_key", sa.Text()),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double()),
        sa.Column("finished_at", sa.Double()),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("shard_size", sa.Integer(), nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
        sa.Column("model_failed", sa.Integer(), nullable=False),
        sa.Column("infra_missing", sa.Integer(), nullable=False),
        sa.Column("known_usd", sa.Double(), nullable=False),
        sa.Column("unknown_usd", sa.Integer(), nullable=False),
        sa.Column("known_tokens", sa.BigInteger(), nullable=False),
        sa.Column("unknown_tokens", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("stuck_since", sa.Double()),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("idempotency_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "trials",
        sa.Column("trial_id", sa.String(length=40), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("shard", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("sample_id", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("cell", sa.Text(), nullable=False),
        sa.Column("cluster", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("arm", sa.Text(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("token", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.Double()),
        sa.Column("worker", sa.Text()),
        sa.PrimaryKeyConstraint("trial_id"),
    )
    op.create_index(
        "trials_leased",
        "trials",
        ["job_id", "shard", "lease_until"],
        unique=False,
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.create_index(
        "trials_pending",
        "trials",
        ["job_id", "shard", "ordinal"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("shard", sa.Text()),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "results",
        sa.Column("seq", _serial(), nullable=False),
        sa.Column("trial_id", sa.String(length=40), nullable=False),
        sa.Column("job_id", sa.String(length=40), nullable=False),
        sa.Column("sample_id", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("cell", sa.Text(), nullable=False),
        sa.Column("cluster", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("arm", sa.Text(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("stop_reason", sa.Text(), nullable=False),
        sa.Column("score", sa.Double()),
        sa.Column("metrics", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("flags", sa.Text(), nullable=False),
        sa.Column("model_calls", sa.Integer(), nullable=False),
        sa.Column("tool_calls", sa.Integer(), nullable=False),
        sa.Column("tool_errors", sa.Integer(), nullable=False),
        sa.Column("tools_used", sa.Text(), nullable=False),
        sa.Column("cache_hits", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger()),
        sa.Column("completion_tokens", sa.BigInteger()),
        sa.Column("usd", sa.Double()),
        sa.Column("wall_s", sa.Double(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.trial_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("trial_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("results_by_job", "results", ["job_id", "seq"], unique=False)
    op.create_index("results_by_outcome", "results", ["job_id", "outcome", "seq"], unique=False)
    op.create_table(
        "traces",
        sa.Column("trial_id", sa.String(length=40), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.trial_id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("trial_id"),
    )


def downgrade() -> None:
    """Drop them, with all they hold."""
    op.drop_table("traces")
    op.drop_index("results_by_outcome", table_name="results")
    op.drop_index("results_by_job", table_name="results")
    op.drop_table("results")
    op.drop_table("workers")
    op.drop_index(
        "trials_pending",
        table_name="trials",
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.drop_index(
        "trials_leased",
        table_name="trials",
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.drop_table("trials")
    op.drop_table("jobs")


def _serial() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")
