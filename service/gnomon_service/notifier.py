"""Tells the log and webhooks how jobs end and what alerts they raise; deletes jobs that are too old.

It works in the process of the API, which knows the data folder and the webhooks. Several may work over one
database: what is told is told once.
"""

import logging
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.errors import GnomonError, NotFound
from gnomon.report.text_formats import count, dollars
from gnomon_service.actions import JOBS_LOG, keep_looks
from gnomon_service.api.serializers import job_view
from gnomon_service.api.state import State
from gnomon_service.deletion import delete_old_jobs, delete_unnamed_media
from gnomon_service.webhooks import AGAIN_S, send
from gnomon_workers.store.database import in_words
from gnomon_workers.store.notices import End, Notice
from gnomon_workers.store.records import DeletedJob, JobRecord

TURN_S = 2.0
CLEAN_EVERY_S = 3_600.0
AT_ONCE = 50  # ends and notices of one turn
log = logging.getLogger(__name__)


class Notifier:
    """Looks from time to time at what has become of jobs."""

    def __init__(self, state: State) -> None:
        self._state, self._store = state, state.store
        self._hooks = state.settings.webhooks
        self._clean_at_s = 0.0
        self._ended: list[str] = []  # jobs whose reports' alerts are not told yet
        self._media_checked_s = 0.0  # of time.time: files that were used before were named then
        self._last_deleted: list[DeletedJob] = []  # as it was then, the last one or none

    def run(self, stop: threading.Event) -> None:
        """Tell until `stop` is set; a database that is away is asked again at the next turn."""
        while not stop.wait(TURN_S):
            try:
                self.turn()
            except (SQLAlchemyError, GnomonError) as error:
                log.warning("notices put off: %s", in_words(error))
            except Exception:  # of one job or file: the next turn tries again
                log.exception("notices put off")

    def turn(self) -> None:
        """Tell what is new, send what is due, and delete what is too old."""
        keep_looks(self._state)
        for job in self._store.digests(limit=0):  # those that are open
            self._tell_troubles(job.id, is_exhausted=job.is_budget_exhausted)
        for end in self._store.untold_ends(limit=AT_ONCE):
            self._tell_end(end)
        due, later = self._ended[:AT_ONCE], self._ended[AT_ONCE:]
        self._ended = [job_id for job_id in due if not self._tells_alerts(job_id)] + later
        self._send()
        if time.monotonic() >= self._clean_at_s:
            self._clean_at_s = time.monotonic() + CLEAN_EVERY_S
            self.clean()

    def clean(self) -> None:
        """Delete jobs that are too old, and what earlier deletions have put off."""
        settings, days = self._state.settings, self._state.settings.keep_days
        if days is not None:
            for job_id in delete_old_jobs(self._store, days=days):
                JOBS_LOG.info("job %s deleted: it ended more than %g days ago", job_id, days)
        self._store.finish_deletions()
        began_s, last_deleted = time.time(), self._store.deleted_jobs(limit=1)
        # Only with a job does a file lose its name: without a deletion those that had one have it still.
        since_s = self._media_checked_s if last_deleted == self._last_deleted else 0.0
        freed = delete_unnamed_media(settings, self._store, is_dry=False, used_since_s=since_s)
        if not freed.is_put_off:
            self._media_checked_s, self._last_deleted = began_s, last_deleted

    def _tell_end(self, end: End) -> None:
        try:
            job = self._store.job(end.job_id)
        except NotFound:
            return  # deleted meanwhile
        self._tell_troubles(job.id, is_exhausted=end.is_budget_exhausted)
        self._tell(job, "ended", str(end.finished_at), end_text(job))
        self._store.note_told(end)
        if self._hooks.by_target:
            self._ended.append(job.id)

    def _tells_alerts(self, job_id: str) -> bool:
        """Tell the alerts of a job's report, once that is made in the background; False until then."""
        try:
            job, (made, problem) = self._store.job(job_id), self._state.reports.soon(job_id)
        except NotFound:
            return True
        if made is None or not made.is_current:
            return bool(problem)
        for said in made.value["alerts"]:
            key = "/".join(said[name] or "" for name in ("model", "arm", "kind"))
            self._tell(job, "alert", key, f"{name_of(job)}: {said['text']}", said)
        return True

    def _tell_troubles(self, job_id: str, *, is_exhausted: bool) -> None:
        """Alerts of a job, and that its limits are used up."""
        unread = self._state.replies.unread(job_id)
        if not (unread or is_exhausted):
            return
        job = self._store.job(job_id)
        for alert in unread:
            self._tell(job, "alert", "/".join(alert.key), f"{name_of(job)}: {alert.sentence}", alert.record())
        if is_exhausted:
            text = f"{name_of(job)} has used up its limits: samples that have not begun are not run"
            self._tell(job, "budget", "", text)

    def _tell(
        self, job: JobRecord, event: str, key: str, text: str, alert: Mapping[str, Any] | None = None
    ) -> None:
        data = {"text": text, "job": facts_of(job)} | ({} if alert is None else {"alert": alert})
        body = {"type": f"job.{event}", "timestamp": datetime.now(UTC).isoformat(), "data": data}
        if self._store.add_notices(job.id, event, key, body, self._hooks.by_target):
            JOBS_LOG.log(logging.INFO if event == "ended" else logging.WARNING, "%s", text)

    def _send(self) -> None:
        if not self._hooks.by_target:
            return
        silent: set[str] = set()  # in this turn
        for notice in self._store.take_notices(self._hooks.by_target, limit=AT_ONCE):
            if notice.target in silent:
                self._store.put_off(notice, again_s=TURN_S)
            elif not self._sent(notice):
                silent.add(notice.target)

    def _sent(self, notice: Notice) -> bool:
        hook = self._hooks.by_target[notice.target]
        said, is_taken, may_be = send(
            hook, self._hooks.secret, f"{notice.job_id}-{notice.number}", notice.body
        )
        is_last = is_taken or not may_be or notice.attempts >= len(AGAIN_S)
        self._store.note_sent(notice, said=said, again_s=None if is_last else AGAIN_S[notice.attempts])
        if not is_taken:
            then = "given up" if is_last else f"again in {AGAIN_S[notice.attempts]:g} s"
            log.warning("the webhook at %s answers %s to notice %d: %s", hook.host, said, notice.number, then)
        return is_taken


def name_of(job: JobRecord) -> str:
    """The job's id and name."""
    return f"job {job.id} ({job.name or job.spec.benchmark})"


def facts_of(job: JobRecord) -> Mapping[str, Any]:
    """What a notice says of its job: all but its spec and what is known of single samples."""
    return {
        name: value for name, value in job_view(job).items() if name not in ("spec", "faults", "preflights")
    }


def end_text(job: JobRecord) -> str:
    """How a job ended, in a line: who posted it, what came of it, what it cost and how long it took."""
    counts = job.counts
    results = f"{counts.scored + counts.model_failed:,} of {count(counts.planned, 'trial')} have a result"
    cost = f"{'at least ' if job.usd is None else ''}{dollars(job.known_usd)}"
    parts = [results, f"{counts.infra_missing:,} missing", cost]
    if job.finished_at and job.started_at:
        took = datetime.fromisoformat(job.finished_at) - datetime.fromisoformat(job.started_at)
        parts.append(f"{took.total_seconds():,.0f} s")
    if job.posted_by:
        parts.append(f"posted by {job.posted_by}" + (f" of {job.owner}" if job.owner else ""))
    return f"{name_of(job)} {job.status}: {', '.join(parts)}" + (f"; {job.error}" if job.error else "")
