"""Writes results in batches, once for each trial, and reads them back in the order they came."""

import logging
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, case, delete, func, select, text, update

from gnomon.core.errors import NotFound
from gnomon.core.row import COLUMNS, Row
from gnomon.core.sample import SampleRef
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.database import among, in_words, insert_all, is_passing
from gnomon_workers.store.job_counters import add_results, counted_jobs, ended_count
from gnomon_workers.store.job_ends import JobEnds
from gnomon_workers.store.jobs import number_of
from gnomon_workers.store.leases import RETRY_S, held_by, unlocked
from gnomon_workers.store.missing import missing_row
from gnomon_workers.store.numbering import NEWEST, Numbering, announce
from gnomon_workers.store.records import JobState, Lease, Page, ReplyCount, TrialRecord
from gnomon_workers.store.schema import (
    DONE,
    LEASED,
    PENDING,
    checkpoints,
    model_checks,
    results,
    seals,
    traces,
    trials,
)
from gnomon_workers.store.serialization import (
    BATCH_COLUMNS,
    pack,
    row_batch,
    row_in_order,
    row_of,
    row_values,
    trial_of,
    unpack,
    with_plain_numbers,
)

if TYPE_CHECKING:
    from gnomon.core.row_batch import RowBatch

Ended = tuple[Lease, Row, Mapping[str, Any]]  # what was leased, how it ended, its trace as plain data
Pair = tuple[str, int]  # of trial id and token
READ_BATCH = 2_000
COLUMN_BATCH = 50_000
WRITE_BATCH = 1_000
UNSTORABLE = "internal:unstorable"
_DROP_CHECKPOINTS = delete(checkpoints).where(
    checkpoints.c.trial_id.in_(bindparam("trial_ids", expanding=True))
)
# A plan may outlive the time when the table was small, and while it is small, reading it whole looks cheap.
_NO_SCAN = text("SET LOCAL enable_seqscan = off")
log = logging.getLogger(__name__)


class Refused(NamedTuple):
    """A result that was not kept; what it has used is to be counted, None if the trial will run again."""

    job_id: str
    trial_id: str
    used: Usage | None


class Written(NamedTuple):
    """A result as it is stored: its columns in `results`, and its trace."""

    ended: Ended
    columns: Mapping[str, Any]
    body: bytes

    @property
    def pair(self) -> Pair:
        """What names its lease: a worker may hold an outdated one of a trial beside the one that counts."""
        return _pair(self.ended[0])

    @property
    def refused(self) -> Refused:
        """What is left of it if its lease is no longer held."""
        return Refused(self.ended[1].job_id, self.ended[1].trial_id, usage_of(self.ended))


class Results(JobEnds, Numbering):
    """The part of the store that keeps results and traces."""

    def finish(self, ended: Sequence[Ended]) -> set[str]:
        """Keep results; return the ids of trials whose lease was no longer held: those are refused.

        What a refused result has cost is counted all the same: the money is gone. Writing the same
        result twice is harmless. A result that cannot be stored, for whatever reason (a lone surrogate, a
        number beyond reason), becomes `infra_missing` with the stop reason `internal:unstorable` and the
        reason in its trace, and takes no other along.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot be reached; try again, as often as need be.
        """
        refused: list[Refused] = []
        for of_job in _by_job(ended).values():
            for start in range(0, len(of_job), WRITE_BATCH):
                refused += self._finish(of_job[start : start + WRITE_BATCH])
        spent: dict[str, list[Usage]] = defaultdict(list)
        for result in refused:
            if result.used is not None:
                spent[result.job_id].append(result.used)
        if spent:  # at last: whoever tries again what failed before would count it twice
            with self.writing() as db:
                for job_id, used in spent.items():
                    add_results(db, job_id, (), used)
        return {result.trial_id for result in refused}

    def charge(self, job_id: str, spent: Sequence[Usage]) -> None:
        """Count what was spent on trials that were broken off and have no result: the money is gone."""
        with self.writing() as db:
            add_results(db, job_id, (), spent)

    def rows(
        self, job_id: str, *, cursor: str | None = None, limit: int = 100, **filters: str | None
    ) -> Page[Row]:
        """Results in the order they came, those that match: `filters` are texts by column, None for any.

        While results with smaller numbers are being written, a page ends before them: it may be short, even
        empty, and have a next one.

        Raises:
            NotFound: no job of that id.
            SpecError: the cursor is none of ours.
        """
        after = 0 if cursor is None else number_of(cursor)
        query = select(results).where(results.c.job_id == job_id, results.c.seq > after)
        for name, wanted in filters.items():
            query = query.where(results.c[name] == wanted) if wanted is not None else query
        settled = self.settled([job_id])[job_id]
        with self.reading() as db:
            rows = db.execute(query.order_by(results.c.seq).limit(limit + 1)).mappings().all()
            if not rows:
                self._check_job(db, job_id)
        shown = [row for row in rows[:limit] if row["seq"] <= settled]
        last = str(shown[-1]["seq"]) if shown else cursor or "0"
        return Page(
            items=tuple(row_of(row) for row in shown), next_cursor=last if len(rows) > len(shown) else None
        )

    def pages(self, job_id: str, *, limit: int, **filters: str | None) -> Iterator[tuple[Row, ...]]:
        """All that `rows` gives with these filters, page by page.

        It ends before results that others are writing just now, as before those that come later.
        """
        cursor = None
        while True:
            page = self.rows(job_id, cursor=cursor, limit=limit, **filters)
            yield page.items
            cursor = page.next_cursor
            if cursor is None or not page.items:
                return

    def iter_rows(self, job_id: str) -> Iterator[Row]:
        """Every result of the job in the order they came, a batch in memory at a time."""
        seq = 0
        while batch := self.rows_after(job_id, seq, READ_BATCH):
            yield from (row for _, row in batch)
            seq = batch[-1][0]
        # Nobody goes on from here: what others are still writing before these need not be waited for.
        while batch := self._rows_between(job_id, seq, NEWEST, READ_BATCH):
            yield from (row for _, row in batch)
            seq = batch[-1][0]

    def rows_after(self, job_id: str, seq: int, limit: int) -> list[tuple[int, Row]]:
        """Up to `limit` results that came after number `seq` (0: from the first), each with its number.

        To go on from the last of them leaves none out: what others may still write comes after it.
        """
        return self._rows_between(job_id, seq, self.settled([job_id])[job_id], limit)

    def reply_states(self, job_id: str, seq: int) -> list[ReplyCount]:
        """What became of the replies that came after number `seq`, counted by model, arm and state."""
        groups = (results.c.model, results.c.arm, results.c.reply_state)
        counts = (func.count(), func.max(results.c.seq), func.min(results.c.trial_id))
        here = (results.c.job_id == job_id, results.c.seq > seq)
        settled = results.c.seq <= self.settled([job_id])[job_id]
        with self.reading() as db:
            rows = db.execute(select(*groups, *counts).where(*here, settled).group_by(*groups)).all()
        return [ReplyCount(*row) for row in rows]

    def rows_by_trial(self, trial_ids: Collection[str]) -> dict[str, Row]:
        """The results of these trials, by id; a trial that has none is left out."""
        query = select(*(results.c[name] for name in COLUMNS)).where(results.c.trial_id.in_(trial_ids))
        with self.reading() as db:
            rows = [row_in_order(tuple(row)) for row in db.execute(query)]
        return {row.trial_id: row for row in rows}

    def job_states(self, job_ids: Sequence[str]) -> dict[str, JobState]:
        """The states of these jobs as of their settled results; those that do not exist are left out."""
        if not job_ids:
            return {}
        last = case(self.settled(job_ids), value=counted_jobs.c.id)
        here = results.c.job_id == counted_jobs.c.id
        newest = select(func.max(results.c.seq)).where(here, results.c.seq <= last)
        later = select(func.count()).select_from(results).where(here, results.c.seq > last)
        is_open = (model_checks.c.job_id == counted_jobs.c.id) & model_checks.c.state.in_(
            ("pending", "checking")
        )
        checks = select(func.count()).select_from(model_checks).where(is_open)
        sealed = select(func.count()).select_from(seals).where(seals.c.job_id == counted_jobs.c.id)
        counts = (newest.scalar_subquery(), checks.scalar_subquery(), sealed.scalar_subquery())
        columns = (
            counted_jobs.c.id,
            counted_jobs.c.status,
            ended_count(counted_jobs) - later.scalar_subquery(),
            *counts,
        )
        with self.reading() as db:
            rows = db.execute(select(*columns).where(counted_jobs.c.id.in_(job_ids))).all()
        return {row[0]: JobState(row[1], row[2], row[3] or 0, row[4], row[5]) for row in rows}

    def job_state(self, job_id: str) -> JobState:
        """The job's state.

        Raises:
            NotFound: the job does not exist.
        """
        states = self.job_states([job_id])
        if not states:
            raise NotFound(f"no job {job_id!r}", field="id")
        return states[job_id]

    def iter_batches(self, job_id: str) -> "Iterator[RowBatch]":
        """Every result of the job in the order they came, as columns: batches of one view."""
        from gnomon.core.row_batch import SIZE  # with NumPy, which a worker for text does without

        columns = (results.c.seq, *(results.c[name] for name in BATCH_COLUMNS))
        of_job = select(*columns).where(results.c.job_id == job_id).order_by(results.c.seq)
        with self.reading() as db:
            for rows in _stretches(db, of_job, 0, SIZE):
                yield row_batch(job_id, list(zip(*rows, strict=True))[1:])

    def iter_columns(self, job_id: str, seq: int, names: Sequence[str]) -> Iterator[Sequence[Sequence[Any]]]:
        """These columns of `results`, of every settled result after number `seq`: batches of one view.

        `seq` must be the first of the names. Values are as stored: JSON columns are text.
        """
        columns = [results.c[name] for name in names]
        here = (results.c.job_id == job_id, results.c.seq <= self.settled([job_id])[job_id])
        of_job = select(*columns).where(*here).order_by(results.c.seq)
        with self.reading() as db:
            yield from _stretches(db, of_job, seq, COLUMN_BATCH)

    def unrun_samples(self, job_id: str) -> list[SampleRef]:
        """The samples of trials that have no result, in the order of the plan."""
        names = [field.name for field in fields(SampleRef)]
        columns, samples = [trials.c[name] for name in names], dict[SampleRef, None]()
        with self.reading() as db:
            for state in (PENDING, LEASED):  # each has an index of its own
                here = (trials.c.job_id == job_id, trials.c.state == state)
                rows = db.execute(select(*columns).where(*here).order_by(trials.c.shard, trials.c.ordinal))
                samples |= dict.fromkeys(SampleRef(**row) for row in rows.mappings())
        return list(samples)

    def trial(self, trial_id: str) -> TrialRecord:
        """All that is known of a trial.

        Raises:
            NotFound: the trial does not exist.
        """
        with self.reading() as db:
            planned = db.execute(select(trials).where(trials.c.trial_id == trial_id)).mappings().one_or_none()
            if planned is None:
                raise NotFound(f"no trial {trial_id!r}", field="id")
            row = db.execute(select(results).where(results.c.trial_id == trial_id)).mappings().one_or_none()
            body = db.execute(select(traces.c.body).where(traces.c.trial_id == trial_id)).scalar_one_or_none()
        return TrialRecord(
            trial=trial_of(planned),
            state=planned["state"],
            attempt=planned["attempt"],
            row=row_of(row) if row is not None else None,
            trace=unpack(body) if body is not None else None,
        )

    def trial_ids(self, prefix: str, *, limit: int) -> list[str]:
        """The ids that begin so, sorted."""
        begins = trials.c.trial_id.startswith(prefix, autoescape=True)
        with self.reading() as db:
            query = select(trials.c.trial_id).where(begins).order_by(trials.c.trial_id).limit(limit)
            return list(db.scalars(query))

    def _finish(self, ended: Sequence[Ended]) -> list[Refused]:
        try:
            return self._write(ended)
        except Exception as error:
            if is_passing(error):
                raise
            if len(ended) > 1:
                return [refused for result in ended for refused in self._finish([result])]
            return self._set_apart(ended[0], in_words(error))

    def _set_apart(self, ended: Ended, reason: str) -> list[Refused]:
        """Keep, of a result that cannot be stored, that it is missing, why, and what it has cost."""
        lease, row, trace = ended
        note = {"kind": "note", "text": f"the result could not be stored: {reason}"}
        log.warning("trial %s: %s", row.trial_id, note["text"])
        missing = _unstorable(lease, row)
        for kept in ({**trace, "steps": [*trace.get("steps", ()), note]}, {"prompt": [], "steps": [note]}):
            try:
                return self._write([(lease, missing, kept)])
            except Exception as error:
                if is_passing(error):
                    raise
                reason = in_words(error)
        log.error("trial %s cannot even be set apart, and will run again: %s", row.trial_id, reason)
        return [Refused(row.job_id, row.trial_id, used=None)]

    def _write(self, ended: Sequence[Ended]) -> list[Refused]:
        """Write results of one job; those whose trials others have locked just now, once these let go."""
        refused: list[Refused] = []
        plain = [(lease, with_plain_numbers(row), trace) for lease, row, trace in ended]
        left = [Written(end, row_values(end[1]), pack(end[2])) for end in plain]
        while left:
            with self.adding_results(ended[0][1].job_id) as db:
                stale, locked = write_unlocked(db, left)
            refused += [written.refused for written in left if written.pair in stale]
            if len(locked) == len(left):
                time.sleep(RETRY_S)
            left = [written for written in left if written.pair in locked]
        return refused

    def _rows_between(self, job_id: str, seq: int, last: int, limit: int) -> list[tuple[int, Row]]:
        columns = (results.c.seq, *(results.c[name] for name in COLUMNS))
        query = select(*columns).where(results.c.job_id == job_id, results.c.seq > seq, results.c.seq <= last)
        with self.reading() as db:
            rows = db.execute(query.order_by(results.c.seq).limit(limit)).all()
        return [(row[0], row_in_order(row[1:])) for row in rows]

    def _check_job(self, db: Connection, job_id: str) -> None:
        if db.execute(select(trials.c.trial_id).where(trials.c.job_id == job_id).limit(1)).first() is None:
            raise NotFound(f"no job {job_id!r}", field="id")


def _stretches(db: Connection, of_job: Select[Any], seq: int, size: int) -> Iterator[Sequence[Sequence[Any]]]:
    """What the query gives after number `seq`, which is its first column, some rows at a time."""
    while True:
        answer = db.execute(of_job.where(results.c.seq > seq).limit(size))
        rows = answer.cursor.fetchall()  # the driver's own tuples: read in half the time
        answer.close()
        if not rows:
            return
        yield rows
        seq = rows[-1][0]


def usage_of(ended: Ended) -> Usage:
    """What a result has used that the job's counters do not hold yet. Replies of the cache are paid for."""
    lease, row, trace = ended
    kept = [step for step in trace["steps"] if step.get("cached")] if row.cache_hits else []
    tokens = sum((step["prompt_tokens"] or 0) + (step["completion_tokens"] or 0) for step in kept)
    return Usage.by(row).beyond(lease.counted).beyond(Usage(0.0, tokens))


def write_unlocked(db: Connection, ended: Sequence[Written]) -> tuple[set[Pair], set[Pair]]:
    """Write results of one job whose trials nobody has locked; the leases of those that are refused, and of
    those that are locked.

    It waits for nothing: others end trials of the job at the same time.
    """
    if db.dialect.name == "postgresql":
        db.execute(_NO_SCAN)
    leases = [written.ended[0] for written in ended]
    closed = update(trials).where(unlocked(held_by(db, leases))).values(state=DONE)
    taken = set(map(_pair_of, db.execute(closed.returning(trials.c.trial_id, trials.c.token))))
    if taken:
        job_id = leases[0].trial.job_id
        kept = [written for written in ended if written.pair in taken]
        db.execute(_DROP_CHECKPOINTS, {"trial_ids": [trial_id for trial_id, _ in taken]})
        insert_all(db, traces, [{"trial_id": written.pair[0], "body": written.body} for written in kept])
        announce(db, job_id)
        insert_all(db, results, [written.columns for written in kept])
        outcomes = [written.ended[1].outcome for written in kept]
        add_results(db, job_id, outcomes, [usage_of(written.ended) for written in kept], returned=len(taken))
    return _not_taken(db, [lease for lease in leases if _pair(lease) not in taken])


def _by_job(ended: Sequence[Ended]) -> dict[str, list[Ended]]:
    by_job: dict[str, list[Ended]] = defaultdict(list)
    for end in ended:
        by_job[end[1].job_id].append(end)
    return by_job


def _not_taken(db: Connection, leases: Sequence[Lease]) -> tuple[set[Pair], set[Pair]]:
    """Of leases whose trials could not be closed, those that are not held, and those that others have locked.

    Those that ended in this very result are neither: a lost reply is no refusal.
    """
    if not leases:
        return set(), set()
    pairs = [_pair(lease) for lease in leases]
    of_lease = (trials.c.trial_id, trials.c.token)
    still = among(db, of_lease, pairs) & trials.c.state.in_(("leased", "done"))
    state_of = {
        _pair_of(row): row.state for row in db.execute(select(*of_lease, trials.c.state).where(still))
    }
    locked = {pair for pair, state in state_of.items() if state == "leased"}
    return set(pairs) - state_of.keys(), locked


def _pair_of(row: Any) -> Pair:
    return row[0], row[1]


def _pair(lease: Lease) -> Pair:
    return lease.trial.trial_id, lease.token


def _unstorable(lease: Lease, row: Row) -> Row:
    """What is kept of a result that cannot be: the trial, and what it has cost where that can be counted."""
    kept = missing_row(lease.trial, benchmark=row.benchmark, stop_reason=UNSTORABLE, attempt=lease.attempt)
    prompt, completion = (
        Usage.countable(None, count) for count in (row.prompt_tokens, row.completion_tokens)
    )
    usd = Usage.countable(row.usd, None).usd
    return replace(kept, usd=usd, prompt_tokens=prompt.tokens, completion_tokens=completion.tokens)
