"""Ends a batch of trials on PostgreSQL in one statement: closes them and keeps what they leave.

The batch is sent as one JSON document, which the server reads as a table (`sent`). It costs the server as
much as COPY does, needs one round trip for all tables, and is planned once for any number of results.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import to_json
from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    Dialect,
    Double,
    Integer,
    String,
    Text,
    bindparam,
    column,
    delete,
    func,
    insert,
    select,
    true,
    update,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import JSON

from gnomon.core.score import Outcome
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.database import errors_of_driver
from gnomon_workers.store.leases import is_leased_by_key
from gnomon_workers.store.numbering import announcement
from gnomon_workers.store.schema import DONE, checkpoints, job_counts, results, traces, trials

# A plan may outlive the time when the table was small, and while it is small, reading it whole looks cheap.
NO_SCAN = "SET LOCAL enable_seqscan = off"
_KEPT = [name for name in results.c.keys() if name != "seq"]  # noqa: SIM118 (its columns, not their names)
_OF_RESULT = [
    column("position", Integer),
    column("token", Integer),
    column("used_usd", Double),
    column("used_tokens", BigInteger),
    column("body", traces.c.body.type),
    *(column(name, results.c[name].type) for name in _KEPT),
]


class SentResult(NamedTuple):
    """A result to keep: the token of its lease, what it has used beyond what is counted, its columns in
    `results`, and its trace as `traces` holds it.
    """

    token: int
    used: Usage
    columns: Mapping[str, Any]
    body: bytes


def end_batch(db: Connection, job_id: str, ended: Sequence[SentResult]) -> set[tuple[str, int]]:
    """End the trials of one job that are still leased under these tokens and that nobody has locked; the
    pairs of trial id and token of which that is true.

    Their results are numbered in the order of `ended`. It waits for nobody.
    """
    statement, values = _statement(db.dialect)
    sent = [
        {
            **columns,
            "position": position,
            "token": token,
            "used_usd": used.usd,
            "used_tokens": used.tokens,
            "body": f"\\x{body.hex()}",
        }
        for position, (token, used, columns, body) in enumerate(ended)
    ]
    document = to_json(sent).decode()
    raw: Any = db.connection.dbapi_connection
    with errors_of_driver(db, statement), raw.pipeline(), raw.cursor() as cursor:
        cursor.execute(NO_SCAN)
        cursor.execute(statement, {**values, "job_id": job_id, "sent": document})
        return set(cursor.fetchall())


@functools.cache
def _statement(dialect: Dialect) -> tuple[str, Mapping[str, Any]]:
    """The statement in the driver's words, and its values beside `job_id` and `sent`."""
    job_id = bindparam("job_id", type_=String)
    document = sql_cast(bindparam("sent", type_=Text), JSON)
    listed = func.json_to_recordset(document).table_valued(*_OF_RESULT)
    sent = select(listed.render_derived(with_types=True)).cte("sent").prefix_with("MATERIALIZED")
    closed = _closed(sent, announcement(dialect, job_id))
    is_closed = (closed.c.trial_id == sent.c.trial_id) & (closed.c.token == sent.c.token)
    ended = select(sent).join(closed, is_closed).cte("ended")
    ids = select(closed.c.trial_id)
    in_order = select(*(ended.c[name] for name in _KEPT)).order_by(ended.c.position)
    written = (
        delete(checkpoints).where(checkpoints.c.trial_id.in_(ids)).cte("no_checkpoints"),
        insert(traces)
        .from_select(["trial_id", "body"], select(ended.c.trial_id, ended.c.body))
        .cte("traced"),
        insert(results).from_select(_KEPT, in_order).cte("kept"),
        _counted(ended, job_id).cte("counted"),
    )
    compiled = select(closed.c.trial_id, closed.c.token).add_cte(*written).compile(dialect=dialect)
    values = {name: value for name, value in compiled.params.items() if name not in ("job_id", "sent")}
    return str(compiled), values


def _closed(sent: CTE, announced: Sequence[ColumnElement[Any]]) -> CTE:
    """Close what is held. Each trial is looked up by its key, whatever the planner believes of the table."""
    is_held = (trials.c.trial_id == sent.c.trial_id) & (trials.c.token == sent.c.token) & is_leased_by_key()
    held = select(trials.c.trial_id).where(is_held).with_for_update(skip_locked=True).lateral("held")
    ids = select(held.c.trial_id).select_from(sent.join(held, true()))
    closed = update(trials).where(trials.c.trial_id.in_(ids)).values(state=DONE)
    return closed.returning(trials.c.trial_id, trials.c.token, *announced).cte("closed")


def _counted(ended: CTE, job_id: ColumnElement[str]) -> Any:
    """Append what the batch changes in the job's counters, if it changes any."""
    count = func.count()
    counts: dict[str, ColumnElement[Any]] = {
        **{outcome.value: count.filter(ended.c.outcome == outcome.value) for outcome in Outcome},
        "leased": -count,
        "known_usd": func.coalesce(func.sum(ended.c.used_usd), 0.0),
        "unknown_usd": count - func.count(ended.c.used_usd),
        "known_tokens": func.coalesce(func.sum(ended.c.used_tokens), 0),
        "unknown_tokens": count - func.count(ended.c.used_tokens),
    }
    of_job = select(job_id, *counts.values()).select_from(ended).having(count > 0)
    return insert(job_counts).from_select(["job_id", *counts], of_job)
