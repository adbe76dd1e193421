"""Writes the checkpoints of a process's trials; those that come at once are written together."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.trace import Trace
from gnomon.trials.checkpoint import SavedTrial, TrialCheckpoints
from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.checkpoints import NewCheckpoint
from gnomon_workers.store.leases import ISOLATE_AFTER
from gnomon_workers.store.records import Lease
from gnomon_workers.store.store import Store

WAIT_S, END_WAIT_S = 1.0, 5.0
"""How long a trial waits for a slow store: while it runs, and when it ends. The store goes on writing."""
log = logging.getLogger(__name__)


class CheckpointWriter:
    """Writes checkpoints to the store, one transaction after another; of a trial's that wait, the newest.

    What cannot be written is lost: the trial goes on, and its last checkpoint stays. `after` is called, in
    the writing thread, with what trials have used that the job's counters hold from then on.
    """

    def __init__(
        self, store: Store, job_id: str, *, worker: str, after: Callable[[list[Usage]], None]
    ) -> None:
        self._store, self._job_id, self._worker, self._after = store, job_id, worker, after
        self._waiting: dict[AttemptCheckpoints, tuple[bytes, Usage]] = {}
        self._task: asyncio.Task[None] | None = None

    async def open(self, lease: Lease, *, is_again: bool = False) -> "AttemptCheckpoints":
        """The checkpoints of a trial that begins now, or begins again in this process.

        A trial that was never handed out before has none yet. One whose workers have died with it several
        times begins anew: its checkpoint may be the cause.
        """
        saved = None
        if (lease.token > 1 or is_again) and lease.attempt <= ISOLATE_AFTER:
            saved = await asyncio.to_thread(self._stored, lease)
        return AttemptCheckpoints(lease, self, worker=self._worker, saved=saved)

    def add(self, attempt: "AttemptCheckpoints", body: bytes, used: Usage) -> asyncio.Task[None]:
        """Write it soon; when the task has ended it is written, or lost."""
        self._waiting[attempt] = body, used
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_waiting())
        return self._task

    def _stored(self, lease: Lease) -> SavedTrial | None:
        try:
            body = self._store.checkpoint(lease.trial.trial_id)
            return None if body is None else SavedTrial.from_bytes(body)
        except (SQLAlchemyError, ValueError) as error:
            log.warning("trial %s begins anew: %s", lease.trial.trial_id, error)
            return None

    async def _write_waiting(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            new = {
                attempt: NewCheckpoint(attempt.lease_now(), body, used)
                for attempt, (body, used) in batch.items()
            }
            try:
                refused = await asyncio.to_thread(self._write, list(new.values()))
            except Exception as error:  # noqa: BLE001 (whatever it is, no trial ends for want of a checkpoint)
                log.warning("%d checkpoints are lost: %s", len(new), error)
                continue
            for attempt, checkpoint in new.items():
                if checkpoint.lease.trial.trial_id not in refused:
                    attempt.written = checkpoint.used

    def _write(self, new: list[NewCheckpoint]) -> set[str]:
        refused = self._store.save_checkpoints(self._job_id, new)
        written = [one for one in new if one.lease.trial.trial_id not in refused]
        self._after([one.used.beyond(one.lease.counted) for one in written])
        return refused


class AttemptCheckpoints:
    """The checkpoints of one attempt of a trial: `trial` is what it sees of them.

    `written` is what the trial had used at the last one that was written.
    """

    def __init__(
        self, lease: Lease, writer: CheckpointWriter, *, worker: str, saved: SavedTrial | None
    ) -> None:
        self._lease, self._writer = lease, writer
        self._task: asyncio.Task[None] | None = None
        self.written: Usage | None = None
        self.trial = TrialCheckpoints(worker=worker, save=self._save, saved=saved)

    def lease_now(self) -> Lease:
        """The lease, with what the job's counters hold of what is in the trial's trace."""
        counted = self.written
        if counted is None and self.trial.resumed:
            counted = Usage.paid(Trace(steps=list(self.trial.resumed))).known
        return self._lease if counted is None else replace(self._lease, counted=counted)

    async def end(self) -> Lease:
        """Wait for what is being written, not for long; the lease as it is then."""
        self.trial.close()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=END_WAIT_S)
        return self.lease_now()

    async def _save(self, body: bytes, trace: Trace) -> None:
        self._task = self._writer.add(self, body, Usage.paid(trace).known)
        await asyncio.wait([self._task], timeout=WAIT_S)
