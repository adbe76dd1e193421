"""Takes shards off the queue and runs each, with those that follow it, in a forked process."""

import gc
import logging
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import FrameType

from redis import Redis, RedisError
from redis.client import Pipeline
from rq import Queue, Worker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.utils import now
from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.agent import agent_of
from gnomon.parent_death import die_with_parent
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon_workers.durations import QUEUE, Durations
from gnomon_workers.message import RefusedMessage, ShardMessage
from gnomon_workers.queue import mark_resting, pop_next_shard, queue_names, resting_jobs
from gnomon_workers.resting_forks import RESTS, ForkLine, RestingForks
from gnomon_workers.shard import WorkerContext, run_shard
from gnomon_workers.store.database import in_words

IDLE_BEAT_S, BUSY_BEAT_S = 15, 5
log = logging.getLogger(__name__)

Preload = Callable[[list[ModelSpec]], None]


def import_for(spec: JobSpec, preload: Preload) -> None:
    """Import what the trials of a job need, before a fork: clients of its models, agents and tools."""
    preload(list(spec.called_models.values()))
    for arm in spec.arms:
        agent_of(arm)
        spec.toolset(arm)


class ShardWorker(Worker):
    """An RQ worker for shards, and only for those.

    What is slow to set up (imports, the job's samples) is done before the fork and kept for the next shard;
    connections are opened after it. SIGTERM is passed on to the running shard, which gives back what it
    cannot finish.
    """

    job_class = ShardMessage
    max_connection_wait_time = 5.0

    def __init__(
        self, queues: tuple[str, ...], *, redis: Redis, context: WorkerContext, preload: Preload
    ) -> None:
        self._listens_to = queue_names(queues)
        super().__init__(
            self._listens_to,
            name=context.name,
            connection=redis,
            serializer=JSONSerializer,
            worker_ttl=IDLE_BEAT_S + 15,  # RQ waits for a message for 15 s less than that
            job_monitoring_interval=BUSY_BEAT_S,
            log_job_description=False,
        )
        self._context, self._preload = context, preload
        self._shard: str | None = None
        self._resting = RestingForks()
        self._left_alone = 0  # the process id of the last fork, once it rests
        self._is_undisturbed = False
        self._deferred_signal: int | None = None  # a signal that came at a bad time

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Prepare, fork, and watch the fork."""
        if self._rests_elsewhere(job):
            job.delete()  # the sweeper queues it again
            return
        if job.enqueued_at is not None:
            waited = Durations()
            waited.note(QUEUE, queue.name, seconds=(now() - job.enqueued_at).total_seconds())
            waited.write(self.connection)
        if isinstance(job, ShardMessage):
            with self._signals_deferred():
                self._prepare(job)
        self._report_state("busy")
        self._die_with_worker = die_with_parent()
        self._context.store.close()
        gc.freeze()
        self._line = ForkLine()
        try:
            super().execute_job(job, queue)
        finally:
            self._line.close()
            self._shard = None
            self._report_state("idle")

    @property
    def horse_pid(self) -> int:
        """The process id of the fork that this worker watches; 0 where there is none."""
        pid = int(super().horse_pid)
        return 0 if pid == self._left_alone else pid

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """Fork, with a line to the fork."""
        self._left_alone = 0
        super().fork_work_horse(job, queue)
        self._line.keep_reading()

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        """Watch the fork until it ends, or until all it runs waits for a provider: then it is left alone."""
        has_rested = False
        while (message := self._line.heard(BUSY_BEAT_S)) != b"":
            has_rested = has_rested or message == RESTS
            if has_rested and self._resting.has_room:
                log.info("the fork of %s rests: its provider lets it wait", self._shard)
                self._resting.add(self.horse_pid)
                self._left_alone = self.horse_pid
                return
            self._reap()
            self.maintain_heartbeats(job)
        super().monitor_work_horse(job, queue)

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Show Redis and the store that this worker lives."""
        super().heartbeat(timeout, pipeline)
        if not self.is_horse:
            self._reap()
            self._report_state("busy" if self._shard else "idle")

    def register_death(self) -> None:
        """Say good-bye to both, when no fork is left."""
        self._resting.stop()
        self._reap(within_s=2 * self._context.timing.grace_s)
        super().register_death()  # type: ignore[no-untyped-call]  # RQ annotates it in part only
        with suppress(SQLAlchemyError):  # whoever is not seen any more is left out of lists anyway
            self._context.store.remove_worker(self.name)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Stop, at once when idle: RQ does that by an exception out of the signal's handler.

        Raised inside the database's code, such an exception would be swallowed there and the worker
        would never stop; there it waits.
        """
        if os.getpid() != self.pid:  # a fork that has not begun its shard
            os._exit(1)
        if self._is_undisturbed:
            self._deferred_signal = signum
        else:
            super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ annotates it in part only

    def handle_warm_shutdown_request(self) -> None:
        """Pass SIGTERM on, so that the running shard ends soon and in order."""
        if self.horse_pid:
            with suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)
        self._resting.stop()

    def handle_work_horse_killed(self, _job: Job, retpid: int, _code: int, _rusage: object) -> None:
        """The fork is dead for certain: its leases need not run out."""
        self._expire([retpid])

    def _expire(self, pids: Sequence[int]) -> None:
        with self._signals_deferred(), suppress(SQLAlchemyError):
            for pid in pids:
                self._context.store.expire(f"{self.name}/{pid}/")

    def _reap(self, *, within_s: float = 0.0) -> None:
        """Take note of resting forks that have ended, or end in this time."""
        self._expire(self._resting.wait(within_s))

    def _rests_elsewhere(self, job: Job) -> bool:
        """Whether all that the job could ask is waited for by some fork: another would only wait too."""
        try:
            return isinstance(job, ShardMessage) and bool(resting_jobs(self.connection, [job.shard()[0]]))
        except (RedisError, RefusedMessage):
            return False

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """The forked process."""
        self._die_with_worker()
        self._line.keep_writing()
        super().main_work_horse(job, queue)

    def _run(self, job_id: str, shard: int) -> None:
        context = replace(self._context, name=f"{self.name}/{os.getpid()}")
        if context.redis_url is not None:
            next_shard = partial(pop_next_shard, context.redis_url, self._listens_to)
            context = replace(context, next_shard=next_shard, report_resting=self._report_resting())
        run_shard(job_id, shard, context=context)

    def _report_resting(self) -> Callable[[str, bool], None]:
        """What a fork calls while all that it runs waits for a provider."""
        line, url = self._line, self._context.redis_url or ""
        reported: list[str] = []

        def report(job_id: str, is_whole: bool) -> None:
            if not reported:
                line.say_resting()
                reported.append(job_id)
            if is_whole:
                mark_resting(url, job_id)

        return report

    def _prepare(self, message: ShardMessage) -> None:
        try:
            job_id, shard = message.shard()
            self._shard, message.runner = f"{job_id}/{shard}", self._run
            spec = self._context.store.job(job_id).spec
            import_for(spec, self._preload)
            self._context.opener.open(job_id, store=self._context.store)
        except Exception as error:  # noqa: BLE001 (the fork meets it again, and acts)
            log.warning("message %s: %r", message.id, error)

    def _report_state(self, state: str) -> None:
        try:
            with self._signals_deferred():
                self._context.store.record_heartbeat(
                    self.name, host=self.hostname or "", pid=self.pid or 0, state=state, shard=self._shard
                )
        except SQLAlchemyError as error:
            log.warning("the store does not see this worker: %s", in_words(error))

    @contextmanager
    def _signals_deferred(self) -> Iterator[None]:
        self._is_undisturbed = True
        try:
            yield
        finally:
            self._is_undisturbed = False
            if self._deferred_signal is not None:
                signum, self._deferred_signal = self._deferred_signal, None
                self.request_stop(signum, None)
