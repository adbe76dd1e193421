"""Runs one job from its draft to its end, in this process and its children."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import OperationalError

from gnomon.core.errors import GnomonError
from gnomon.core.row import Row
from gnomon_service.local_stack import LocalStack, default_workers, local_stack
from gnomon_service.reply_watch import ReplyWatch, UnreadReplies
from gnomon_service.settings import Settings
from gnomon_service.supervisor import sigterm_as_interrupt
from gnomon_workers.store.records import OPEN, JobRecord
from gnomon_workers.store.store import Store

POLL_S = 0.2
BATCH = 1000
GRACE_S = 5.0  # after Ctrl-C trials in flight may finish for this long
STOP_S, IDLE_STOP_S = 2.0, 0.3  # then workers have this long to end, with and without a trial in flight
AWAY_S = 60.0  # the store may be unreachable for this long
TRIALS_OF_A_WORKER = 8
LOOK_S = 1.0  # between two looks for workers
WORKERS_S = 60.0  # without any worker a run gives up after this long


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSnapshot:
    """A job at one moment, the rows that came since the snapshot before, and arms that cannot be read."""

    job: JobRecord
    rows: Sequence[Row]
    unread: Sequence[UnreadReplies]


def run_to_end(
    begin: Callable[[LocalStack], JobRecord],
    settings: Settings,
    *,
    workers: int | None,
    started: Callable[[JobRecord, Sequence[JobRecord]], None],
    progress: Callable[[JobSnapshot], None],
    stopping: Callable[[int], None],
) -> str:
    """Run the job that `begin` queues, with a queue and workers of its own, until it has ended; its id.

    There are as many `workers`, by default as many as its size is worth.
    `started` gets the job, and the abandoned jobs that were cancelled; `progress` each snapshot of it. Ctrl-C
    and SIGTERM cancel the job; trials in flight, whose number `stopping` gets, may finish for GRACE_S, or
    until the next Ctrl-C.

    Raises:
        GnomonError: no worker comes up.
    """
    with sigterm_as_interrupt(), local_stack(settings) as here:
        abandoned = cancel_abandoned(here) if settings.is_embedded else ()
        job = begin(here)
        try:
            started(job, [old for old in abandoned if old.id != job.id])
            number = workers or workers_for(job.counts.planned - job.counts.done)
            here.start_workers(number, [job.spec.queue], fork_for=job.spec)
            watch = _WorkerWatch(here)
            for snapshot in poll_job(here.store, job.id):
                progress(snapshot)
                watch.check()
        except BaseException as error:
            here.store.cancel(job.id)
            if not isinstance(error, KeyboardInterrupt):
                raise
            _wind_down(here, job.id, stopping)
    return job.id


def workers_for(trials: int) -> int:
    """How many workers so many trials are worth: the start of each costs as much as some trials do.

    >>> workers_for(2)
    1
    """
    return max(1, min(default_workers(), trials // TRIALS_OF_A_WORKER))


def end_job(store: Store, job_id: str, data_dir: Path) -> tuple[JobRecord, Sequence[tuple[Path, int]]]:
    """Seal the results of a job that was run here, and write the cassettes that it records; the job, and each
    cassette's file with its number of calls.
    """
    store.seal_results(job_id)
    job = store.job(job_id)
    if not job.spec.servers:
        return job, ()
    from gnomon_service.cassettes import write_recorded  # late: few jobs have servers

    return job, list(write_recorded(store, job, data_dir))


def _wind_down(here: LocalStack, job_id: str, stopping: Callable[[int], None]) -> None:
    """Let trials in flight of a cancelled job finish for GRACE_S, or until Ctrl-C, and stop all children."""
    stop_s, is_announced = STOP_S, False
    try:
        with suppress(KeyboardInterrupt):
            for snapshot in poll_job(here.store, job_id, within_s=GRACE_S):
                running = snapshot.job.counts.running
                stop_s = STOP_S if running else IDLE_STOP_S
                if running and not is_announced:
                    stopping(snapshot.job.in_flight(here.store.workers()))
                    is_announced = True
    finally:
        here.supervisor.stop(within_s=stop_s)


class _WorkerWatch:
    """Notices when there are no workers at all, so that a job that cannot run does not wait for ever."""

    def __init__(self, here: LocalStack) -> None:
        self._here, self._last_seen_s = here, time.monotonic()
        self._last_look_s = self._last_seen_s

    def check(self) -> None:
        """Look for live workers.

        Raises:
            GnomonError: there was none for WORKERS_S; the message says where their logs are.
        """
        now_s = time.monotonic()
        if now_s - self._last_look_s < LOOK_S:
            return
        self._last_look_s = now_s
        if self._here.store.workers():
            self._last_seen_s = now_s
        elif now_s - self._last_seen_s > WORKERS_S:
            logs = self._here.settings.data_dir / "logs"
            raise GnomonError(f"no worker for {WORKERS_S:.0f} s; their logs are in {logs}")


def cancel_abandoned(here: LocalStack) -> tuple[JobRecord, ...]:
    """Cancel jobs that a killed command left open; the data folder is ours alone, so no process runs them."""
    abandoned: list[JobRecord] = []
    cursor: str | None = None
    while True:
        page = here.store.jobs(cursor=cursor, limit=BATCH)
        abandoned += [here.store.cancel(job.id) for job in page.items if job.status in OPEN]
        cursor = page.next_cursor
        if cursor is None:
            return tuple(abandoned)


def poll_job(store: Store, job_id: str, *, within_s: float | None = None) -> Iterator[JobSnapshot]:
    """Snapshots of a job until it has ended and none of its trials runs, at most for `within_s`.

    Raises:
        sqlalchemy.exc.OperationalError: the store has been unreachable for AWAY_S.
    """
    until_s = None if within_s is None else time.monotonic() + within_s
    seq, last_read_s = 0, time.monotonic()
    watch, unread = ReplyWatch(store), list[UnreadReplies]()
    while True:
        try:
            job, numbered = store.job(job_id), store.rows_after(job_id, seq, BATCH)
            unread = watch.unread(job_id) if numbered else unread
        except OperationalError:  # such as PostgreSQL while it starts again; the workers wait for it too
            if time.monotonic() - last_read_s > AWAY_S:
                raise
            time.sleep(POLL_S)
            continue
        last_read_s = time.monotonic()
        if numbered:
            seq = numbered[-1][0]
        yield JobSnapshot(job=job, rows=[row for _, row in numbered], unread=unread)
        if len(numbered) == BATCH:
            continue
        if job.status not in OPEN and not job.counts.running:
            return
        if until_s is not None and time.monotonic() > until_s:
            return
        time.sleep(POLL_S)
