"""The tables. Times are seconds since 1970; JSON is text, so that what comes out is what went in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
)

from gnomon.core.row import ROW_COLUMNS, RowColumn

# Of the tables below: each change of them is a step in this folder, named r0001_… and so on.
REVISION = max(step.name[1:5] for step in (Path(__file__).parent / "revisions").glob("r[0-9]*.py"))
metadata = MetaData()
TRIAL_COLUMNS = ("job_id", "sample_id", "task", "cell", "cluster", "model", "arm", "repeat")
_serial = BigInteger().with_variant(Integer, "sqlite")


def _result_column(column: RowColumn) -> Column[Any]:
    """The column of `results` that holds this column of a row."""
    form, is_required = column.form, not column.is_nullable
    if column.kind == "integer":
        return Column(column.name, BigInteger if form.is_large else Integer, nullable=not is_required)
    if column.kind == "fraction":
        return Column(column.name, Double, nullable=not is_required)
    text = Text if form.sql_length is None else String(form.sql_length)
    return Column(column.name, text, nullable=not is_required)


def _of_trial() -> ForeignKeyConstraint:
    """On SQLite alone. PostgreSQL would look up the trial of each row: a fifth of what ending it costs."""
    key = ForeignKeyConstraint(["trial_id"], ["trials.trial_id"], ondelete="CASCADE")
    return key.ddl_if(dialect="sqlite")


def _trial_columns() -> Iterator[Column[Any]]:
    """What a trial is. `job_id` is no foreign key: a job's own row is written after its trials."""
    return (_result_column(column) for column in ROW_COLUMNS if column.name in TRIAL_COLUMNS)


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
    Column("shard_size", Integer, nullable=False),  # 0: its trials are not made yet
    Column("scored", Integer, nullable=False, default=0),
    Column("model_failed", Integer, nullable=False, default=0),
    Column("infra_missing", Integer, nullable=False, default=0),
    Column("leased", Integer, nullable=False, default=0, server_default="0"),  # of its trials, now
    Column("known_usd", Double, nullable=False, default=0.0),
    Column("unknown_usd", Integer, nullable=False, default=0),  # results whose price is unknown
    Column("known_tokens", BigInteger, nullable=False, default=0),
    Column("unknown_tokens", Integer, nullable=False, default=0),
    # What calls may have cost beside that: of processes that died, or whose replies did not tell.
    Column("possible_usd", Double, nullable=False, default=0.0, server_default="0"),
    Column("possible_tokens", BigInteger, nullable=False, default=0, server_default="0"),
    Column("faults", Text, nullable=False),
    Column("error", Text, nullable=False, default=""),
    Column("is_budget_exhausted", Integer, nullable=False, default=0, server_default="0"),
    Column("cost_ratios", Text, nullable=False, default="{}", server_default="{}"),  # JSON by model
    Column("stuck_since", Double),  # since when no worker could set it up
    Column("sealed_rows", Integer),  # how many results the last line of its seal covers
    Column("posted_by", Text, nullable=False, default="", server_default=""),  # the name of a key
    Column("owner", Text, nullable=False, default="", server_default=""),  # of that key
    Column("told_at", Double),  # the end of it that was told to whoever wants to know
    sqlite_autoincrement=True,
)

COUNTERS = (
    "scored",
    "model_failed",
    "infra_missing",
    "leased",
    "known_usd",
    "unknown_usd",
    "known_tokens",
    "unknown_tokens",
)
# What was counted since a job's row was brought up to date: appended, so that nobody waits.
job_counts = Table(
    "job_counts",
    metadata,
    Column("job_id", String(40), nullable=False),
    *(Column(name, jobs.c[name].type, nullable=False) for name in COUNTERS),
)
Index("job_counts_by_job", job_counts.c.job_id)

# Written into the SQL: a partial index serves only statements that name its state as a constant.
PENDING, LEASED = literal_column("'pending'", String), literal_column("'leased'", String)
DONE = literal_column("'done'", String)

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
    Column("worker", Text),  # who holds it while it is leased
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
    sqlite_where=trials.c.state == LEASED,
    postgresql_where=trials.c.state == LEASED,
)
Index(
    "trials_by_worker",
    trials.c.worker,
    sqlite_where=trials.c.state == LEASED,
    postgresql_where=trials.c.state == LEASED,
)

lease_holders = Table(  # until when each worker holds what it has leased: a renewal writes one row
    "lease_holders",
    metadata,
    Column("worker", Text, primary_key=True),
    Column("lease_until", Double, nullable=False),
)

results = Table(
    "results",
    metadata,
    Column("seq", _serial, primary_key=True),  # order of arrival: the cursor of rows and events
    *(_result_column(column) for column in ROW_COLUMNS),
    _of_trial(),
    UniqueConstraint("trial_id"),
    sqlite_autoincrement=True,
)
Index("results_by_job", results.c.job_id, results.c.seq)
Index("results_by_outcome", results.c.job_id, results.c.outcome, results.c.seq)

traces = Table(
    "traces",
    metadata,
    Column("trial_id", String(40), primary_key=True),
    Column("body", LargeBinary, nullable=False),  # JSON, deflated
    _of_trial(),
)

checkpoints = Table(  # how far trials have come that run or were broken off; no foreign key, which would lock
    "checkpoints",  # the trial's row while its lease is renewed
    metadata,
    Column("trial_id", String(40), primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("saved_at", Double, nullable=False),
)

replies = Table(  # the response cache: it must outlive Redis, whose memory it would fill
    "replies",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("scope", LargeBinary, nullable=False),  # the model, its parameters and the trial's seed
    Column("body", Text, nullable=False),
    Column("created_at", Double, nullable=False),
)
Index("replies_by_scope", replies.c.scope)
Index("replies_by_age", replies.c.created_at)

reservations = Table(  # what each process may spend before it has written what it spent
    "budget_reservations",
    metadata,
    Column("holder", String(200), primary_key=True),
    Column("job_id", String(40), nullable=False),
    Column("usd", Double, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("expires_at", Double, nullable=False),
)
Index("budget_reservations_by_job", reservations.c.job_id)

model_checks = Table(  # what is known of a job's model: its preflight, and whether it was stopped
    "model_checks",
    metadata,
    Column("job_id", String(40), primary_key=True),
    Column("model", Text, primary_key=True),
    Column("state", String(12), nullable=False),
    Column("cause", Text, nullable=False, default="", server_default=""),
    Column("error", Text, nullable=False, default="", server_default=""),
    Column("holder", String(200), nullable=False, default="", server_default=""),
    Column("lease_until", Double, nullable=False, default=0.0, server_default="0"),
    Column("calls", Integer, nullable=False, default=0, server_default="0"),
    Column("usd", Double),  # of the preflight calls; None: unknown
    Column("tokens", BigInteger),
    Column("waits_until", Double),  # its provider was asked too often and said so in the words of `waits_for`
    Column("waits_for", Text, nullable=False, default="", server_default=""),
    Column("asks_for", Text, nullable=False, default="", server_default=""),  # by the call in flight
    Column("asked_at", Double),  # when that call was begun
    Column("fitness", Text, nullable=False, default="", server_default=""),  # JSON; empty: not known
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

derived = Table(  # what can be computed again from results; one with another stamp is out of date
    "derived",
    metadata,
    Column("job_id", String(40), primary_key=True),
    Column("kind", String(40), primary_key=True),
    Column("stamp", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

seals = Table(  # what was planned and what came, each line with the hash of the one before it
    "seals",
    metadata,
    Column("job_id", String(40), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("line", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("is_stamped", Integer, nullable=False),  # by a time authority; its own lines are
)
Index(
    "seals_unstamped",
    seals.c.at,
    sqlite_where=seals.c.is_stamped == literal_column("0", Integer),
    postgresql_where=seals.c.is_stamped == literal_column("0", Integer),
)

looks = Table(  # at jobs that may stop early, in order
    "looks",
    metadata,
    Column("job_id", String(40), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),  # JSON, with its time
)

review_queues = Table(
    "review_queues",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("job_id", String(40), nullable=False),
    Column("mode", String(8), nullable=False),
    Column("choice", String(12), nullable=False),  # how its samples were chosen
    Column("samples", LargeBinary, nullable=False),  # JSON, deflated
    Column("created_at", Double, nullable=False),
)
Index("review_queues_by_job", review_queues.c.job_id)

reviews = Table(
    "reviews",
    metadata,
    Column("queue", String(80), primary_key=True),
    Column("sample_id", Text, primary_key=True),
    Column("reviewer", Text, primary_key=True),
    Column("is_settlement", Integer, primary_key=True, autoincrement=False),  # not made blindly
    Column("response", Text),  # the reviewer's own answer, given before the truth was shown
    Column("answer", Text),  # as the scorer read it
    Column("score", Double),
    Column("decision", String(12)),
    Column("mended", Text),  # the right answer where the truth is wrong
    Column("note", Text, nullable=False, default="", server_default=""),
    Column("seconds", Double),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
)

STAYS = (
    *("name", "benchmark", "status", "spec_hash", "posted_by", "owner", "created_at", "finished_at"),
    *("planned", "scored", "model_failed", "infra_missing"),
    *("known_usd", "unknown_usd", "known_tokens", "unknown_tokens", "possible_usd", "possible_tokens"),
)
deleted_jobs = Table(  # what stays of a job beside its seal
    "deleted_jobs",
    metadata,
    Column("job_id", String(40), primary_key=True),
    *(Column(name, jobs.c[name].type, nullable=jobs.c[name].nullable) for name in STAYS),
    Column("deleted_at", Double, nullable=False),
    Column("deleted_by", Text, nullable=False),  # the name of a key, or why without one
    Column("is_gone", Integer, nullable=False),  # else some of its trials are still there
)

activity = Table(  # what each key did with each job; it stays when the job is deleted
    "activity",
    metadata,
    Column("job_id", String(40), primary_key=True),
    Column("who", String(80), primary_key=True),
    Column("action", String(12), primary_key=True),
    Column("first_at", Double, nullable=False),
    Column("last_at", Double, nullable=False),
    Column("times", Integer, nullable=False),
)
Index("activity_by_time", activity.c.last_at)

notices = Table(  # what is told to a webhook, once for each job, event and key
    "notices",
    metadata,
    Column("number", _serial, primary_key=True),
    Column("job_id", String(40), nullable=False),
    Column("event", String(12), nullable=False),
    Column("key", Text, nullable=False),
    Column("target", String(16), nullable=False),  # a digest of the address, which is a secret
    Column("body", Text, nullable=False),  # JSON
    Column("created_at", Double, nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("next_at", Double),  # None: it was taken, or given up
    Column("said", Text, nullable=False, default=""),  # by the last attempt
    UniqueConstraint("job_id", "event", "key", "target"),
    sqlite_autoincrement=True,
)
Index("notices_waiting", notices.c.next_at)

alembic_version = Table("alembic_version", metadata, Column("version_num", String(32), primary_key=True))
