"""Makes the trials of jobs that were accepted without them: one worker at a time, until it is cancelled.

A worker holds a job it prepares as it holds trials: by a row of `lease_holders` that it renews. What it has
written so far counts for nothing until the job is `queued`; the next worker begins anew.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, delete, select, update

from gnomon.core.errors import SpecError
from gnomon.core.sample import DataFault, SampleRef
from gnomon.core.seal import PlannedSamples
from gnomon.spec.job_spec import JobSpec
from gnomon.stopping import Unwanted
from gnomon.trials.trial_plan import count_trials, expand_trials
from gnomon_workers.store.database import insert_or_update
from gnomon_workers.store.job_counters import lock_jobs
from gnomon_workers.store.jobs import INSERT_BATCH, Jobs, seal_plan
from gnomon_workers.store.schema import jobs, lease_holders, trials
from gnomon_workers.store.serialization import fault_text
from gnomon_workers.store.shard_sizes import shard_size

PREPARES = "/prepares/"  # in the name of a holder, before the job's id


class Preparation(Jobs):
    """The part of the store that makes the trials of large jobs."""

    def claim_preparation(self, job_id: str, *, worker: str, ttl_s: float) -> str | None:
        """The holder as which `worker` may prepare the job; None if another does, or it needs none."""
        holder = f"{worker}{PREPARES}{job_id}"
        others = prepares(job_id)
        with self.writing() as db:
            lock_jobs(db, [job_id])
            now = self.now(db)
            is_held = select(lease_holders.c.worker).where(others, lease_holders.c.lease_until >= now)
            if not _is_preparing(db, job_id) or db.execute(is_held).first() is not None:
                return None
            db.execute(delete(lease_holders).where(others))
            insert_or_update(db, lease_holders, {"worker": holder, "lease_until": now + ttl_s})
        return holder

    def prepare(
        self, job_id: str, holder: str, spec: JobSpec, refs: Sequence[SampleRef], faults: Iterable[DataFault]
    ) -> None:
        """Make the trials of a job that `holder` has claimed, and queue it.

        Raises:
            SpecError: there is no sample.
            Unwanted: it was cancelled, or the claim has been lost; nothing of it is left.
        """
        if not refs:
            raise SpecError("nothing is selected; widen tasks, scenes or limit", field="select")

        def check(db: Connection) -> None:
            if not (_is_preparing(db, job_id) and _is_claimed(db, holder)):
                raise Unwanted

        self._delete_unmade(job_id, holder)  # what another left that has died
        count, samples = count_trials(spec, len(refs)), PlannedSamples()
        size = shard_size(spec, count)
        self.insert_trials(expand_trials(job_id, spec, samples.noting(refs)), size, check=check)
        with self.writing() as db:
            lock_jobs(db, [job_id])
            check(db)
            queued = {"status": "queued", "planned": count, "shard_size": size, "sealed_rows": None}
            values = queued | {"faults": fault_text(faults)}
            db.execute(update(jobs).where(jobs.c.id == job_id).values(values))
            db.execute(delete(lease_holders).where(lease_holders.c.worker == holder))
            seal_plan(db, job_id, spec, samples, kind="planned", now=self.now(db), trials=count)

    def end_preparation(self, job_id: str, holder: str, *, error: str = "") -> None:
        """Give up a claim, and with an error the job."""
        self._delete_unmade(job_id, holder)
        with self.writing() as db:
            dropped = db.execute(delete(lease_holders).where(lease_holders.c.worker == holder)).rowcount
        if dropped and error:
            self.fail(job_id, error)

    def unprepared(self) -> list[str]:
        """Jobs without trials that no worker prepares, the oldest first."""
        with self.reading() as db:
            waiting = select(jobs.c.id).where(jobs.c.status == "preparing").order_by(jobs.c.number)
            job_ids = list(db.scalars(waiting))
            if not job_ids:
                return []
            alive = lease_holders.c.lease_until >= self.now(db)
            preparing = lease_holders.c.worker.contains(PREPARES, autoescape=True)
            held = db.scalars(select(lease_holders.c.worker).where(alive, preparing)).all()
        claimed = {holder.rpartition(PREPARES)[2] for holder in held}
        return [job_id for job_id in job_ids if job_id not in claimed]

    def _delete_unmade(self, job_id: str, holder: str) -> None:
        """Delete the trials of a job that is not prepared, as long as the claim holds."""
        some = select(trials.c.trial_id).where(trials.c.job_id == job_id).limit(INSERT_BATCH)
        unmade = select(jobs.c.id).where(jobs.c.id == job_id, jobs.c.shard_size == 0)
        deleted = delete(trials).where(trials.c.trial_id.in_(some), trials.c.job_id.in_(unmade))
        while True:
            with self.writing() as db:
                if not (_is_claimed(db, holder) and db.execute(deleted).rowcount):
                    return


def prepares(job_id: str) -> ColumnElement[bool]:
    """Whether a row of `lease_holders` is a claim on this job."""
    return lease_holders.c.worker.endswith(PREPARES + job_id, autoescape=True)


def _is_claimed(db: Connection, holder: str) -> bool:
    """Whether the claim holds; nobody can take it until this transaction ends."""
    own = select(lease_holders.c.worker).where(lease_holders.c.worker == holder).with_for_update()
    return db.execute(own).first() is not None


def _is_preparing(db: Connection, job_id: str) -> bool:
    return db.execute(select(jobs.c.status).where(jobs.c.id == job_id)).scalar_one_or_none() == "preparing"
