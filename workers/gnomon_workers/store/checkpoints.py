"""Keeps the newest checkpoint of each trial that runs, written under its lease and gone with its result."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.database import Database, insert_or_update
from gnomon_workers.store.job_counters import add_results, lock_jobs
from gnomon_workers.store.leases import held_by, unlocked
from gnomon_workers.store.records import Lease
from gnomon_workers.store.schema import checkpoints, trials


class NewCheckpoint(NamedTuple):
    """A checkpoint to keep: `used` is what the trial has used up to it, of which the lease's `counted` is in
    the job's counters already.
    """

    lease: Lease
    body: bytes
    used: Usage


class Checkpoints(Database):
    """The part of the store that keeps how far trials have come."""

    def save_checkpoints(self, job_id: str, new: Sequence[NewCheckpoint]) -> set[str]:
        """Keep each in place of its trial's last one, and count what the trial has used since; return the
        ids of trials whose lease is no longer held, or whose result is just being written: theirs are
        refused, and nothing of them is counted.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot be reached, or takes no such bytes.
        """
        with self.writing() as db:
            lock_jobs(db, [job_id])  # no lease of the job's trials is handed out or taken back meanwhile
            leases = [checkpoint.lease for checkpoint in new]
            held = set(db.scalars(select(trials.c.trial_id).where(unlocked(held_by(db, leases)))))
            now = self.now(db)
            written = [checkpoint for checkpoint in new if checkpoint.lease.trial.trial_id in held]
            for lease, body, _ in written:
                newest = {"trial_id": lease.trial.trial_id, "body": body, "saved_at": now}
                insert_or_update(db, checkpoints, newest)
            spent = [used.beyond(lease.counted).known for lease, _, used in written]
            if any(spent_usd or spent_tokens for spent_usd, spent_tokens in spent):
                add_results(db, job_id, (), spent)
        return {lease.trial.trial_id for lease in leases} - held

    def checkpoint(self, trial_id: str) -> bytes | None:
        """The trial's newest checkpoint; None where there is none."""
        query = select(checkpoints.c.body).where(checkpoints.c.trial_id == trial_id)
        with self.reading() as db:
            return db.execute(query).scalar_one_or_none()
