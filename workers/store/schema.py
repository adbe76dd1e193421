"""The tables. Times are seconds since 1970; JSON is text, so that what comes out is what went in."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    literal_column,
)

REVISION = "0007"  # of the tables below; each change of them is a step in workers/store/revisions
metadata = MetaData()
_serial = BigInteger().with_variant(Integer, "sqlite")


def _trial_columns() -> tuple[Column[Any], ...]:
    """What a trial is. `job_id` is no foreign key: a job's own row is written after its trials."""
    return (
        Column("job_id", String(40), nullable=False),
        Column("sample_id", Text, nullable=False),
        Column("task", Text, nullable=False),
        Column("cell", Text, nullable=False),
        Column("cluster", Text, nullable=False),
        Column("model", Text, nullable=False),
        Column("arm", Text, nullable=False),
        Column("repeat", Integer, nullable=False),
    )


jobs = Table(
    "jobs",
    metadata,
    Column("number", _serial, primary_key=True),  # order of arrival
    Column("id", String(40), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("status", String(12), nullable=False),
    Column("spec", Text, nullable=False),
    Column("spec_hash", String(40), nullable=False),
    Column("idempotency_key", Text, unique=True),
    Column("benchmark", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("planned", Integer, nullable=False),
    Column("shard_size", Integer, nullable=False),
    Column("scored", Integer, nullable=False, default=0),
    Column("model_failed", Integer, nullable=False, default=0),
    Column("infra_missing", Integer, nullable=False, default=0),
    Column("known_usd", Double, nullable=False, default=0.0),
    Column("unknown_usd", Integer, nullable=False, default=0),  # results whose price is unknown
    Column("known_tokens", BigInteger, nullable=False, default=0),
    Column("unknown_tokens", Integer, nullable=False, default=0),
    Column("faults", Text, nullable=False),
    Column("error", Text, nullable=False, default=""),
    Column("is_spent", Integer, nullable=False, default=0, server_default="0"),  # the limits allow no call
    Column("shares", Text, nullable=False, default="{}", server_default="{}"),  # JSON: what calls cost
    Column("stuck_since", Double),  # since when no worker could set it up
    sqlite_autoincrement=True,
)

# In the SQL as they stand: a partial index serves only statements that name its state as a constant.
PENDING, LEASED = literal_column("'pending'", String), literal_column("'leased'", String)

trials = Table(
    "trials",
    metadata,
    Column("trial_id", String(40), primary_key=True),
    Column("ordinal", Integer, nullable=False),
    Column("shard", Integer, nullable=False),
    *_trial_columns(),
    Column("state", String(8), nullable=False, default="pending"),
    Column("attempt", Integer, nullable=False, default=0),
    Column("token", Integer, nullable=False, default=0),
    Column("lease_until", Double),
    Column("worker", Text),
)
Index(
    "trials_pending",
    trials.c.job_id,
    trials.c.shard,
    trials.c.ordinal,
    sqlite_where=trials.c.state == PENDING,
    postgresql_where=trials.c.state == PENDING,
)
Index(
    "trials_leased",
    trials.c.job_id,
    trials.c.shard,
    trials.c.lease_until,
    sqlite_where=trials.c.state == LEASED,
    postgresql_where=trials.c.state == LEASED,
)

results = Table(
    "results",
    metadata,
    Column("seq", _serial, primary_key=True),  # order of arrival: the cursor of rows and events
    Column(
        "trial_id", String(40), ForeignKey("trials.trial_id", ondelete="CASCADE"), nullable=False, unique=True
    ),
    *_trial_columns(),
    Column("benchmark", Text, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("stop_reason", Text, nullable=False),
    Column("score", Double),
    Column("metrics", Text, nullable=False),
    Column("answer", Text),
    Column("flags", Text, nullable=False),
    Column("model_calls", Integer, nullable=False),
    Column("tool_calls", Integer, nullable=False),
    Column("tool_errors", Integer, nullable=False),
    Column("tools_used", Text, nullable=False),
    Column("cache_hits", Integer, nullable=False),
    Column("prompt_tokens", BigInteger),
    Column("completion_tokens", BigInteger),
    Column("cached_tokens", BigInteger),
    Column("reasoning_tokens", BigInteger),
    Column("usd", Double),
    Column("wall_s", Double, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("error", Text, nullable=False, default="", server_default=""),
    Column("tools_offered", Integer),  # None in rows from before it was counted
    sqlite_autoincrement=True,
)
Index("results_by_job", results.c.job_id, results.c.seq)
Index("results_by_outcome", results.c.job_id, results.c.outcome, results.c.seq)

traces = Table(
    "traces",
    metadata,
    Column("trial_id", String(40), ForeignKey("trials.trial_id", ondelete="CASCADE"), primary_key=True),
    Column("body", LargeBinary, nullable=False),  # JSON, deflated
)

replies = Table(  # the response cache: it must outlive Redis, whose memory it would fill
    "replies",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("scope", LargeBinary, nullable=False),  # the model, its parameters and the trial's seed
    Column("body", Text, nullable=False),
    Column("kept_at", Double, nullable=False),
)
Index("replies_by_scope", replies.c.scope)
Index("replies_by_age", replies.c.kept_at)

purses = Table(
    "purses",
    metadata,
    Column("holder", String(200), primary_key=True),
    Column("job_id", String(40), nullable=False),
    Column("usd", Double, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("until", Double, nullable=False),
)
Index("purses_by_job", purses.c.job_id)

model_checks = Table(  # what is known of a job's model: its preflight, and whether it was stopped
    "model_checks",
    metadata,
    Column("job_id", String(40), primary_key=True),
    Column("model", Text, primary_key=True),
    Column("state", String(12), nullable=False),
    Column("cause", Text, nullable=False, default="", server_default=""),
    Column("error", Text, nullable=False, default="", server_default=""),
    Column("holder", String(200), nullable=False, default="", server_default=""),
    Column("until", Double, nullable=False, default=0.0, server_default="0"),
    Column("calls", Integer, nullable=False, default=0, server_default="0"),
    Column("usd", Double),  # of the preflight calls; None: unknown
    Column("tokens", BigInteger),
    Column("waits_until", Double),  # its provider was asked too often and said so in the words of `waits_for`
    Column("waits_for", Text, nullable=False, default="", server_default=""),
)

workers = Table(
    "workers",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("shard", Text),
    Column("seen_at", Double, nullable=False),
)

alembic_version = Table("alembic_version", metadata, Column("version_num", String(32), primary_key=True))
