"""Keeps the last report of each job, built once for all requests that come at the same time."""

import functools
import hashlib
import json
import logging
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from cachetools import LRUCache
from sqlalchemy.exc import SQLAlchemyError

import gnomon
from gnomon.stopping import check_wanted
from workers.store.database import in_words
from workers.store.job_counters import OPEN
from workers.store.records import JobState
from workers.store.store import Store

if TYPE_CHECKING:
    from gnomon.report.report import Report

KIND = "report"  # of the document in the store
KEPT = 8  # jobs
SLOW_S = 1.0  # what takes no longer to build is never old
LOOK_S = 0.5  # how often one who waits for another's report looks whether it is still wanted
MAX_STALENESS = 10  # a slow one of a job that runs may be as many times as old as it took to build
CODE = ("*.py", "*.j2", "*.css")
log = logging.getLogger(__name__)


class _Stamp(NamedTuple):
    """What a report is made of: the job's results, and answers of people."""

    state: JobState
    people: tuple[int, float]

    @property
    def name(self) -> str:
        """What the report is kept under."""
        results = kept_stamp(self.state)
        return f"{results}-people-{self.people[0]}-{self.people[1]!r}" if self.people[0] else results


@dataclass(frozen=True, slots=True, kw_only=True)
class _Built:
    """A job's report, and when and in what time it was built."""

    report: "Report"
    stamp: _Stamp
    at_s: float
    took_s: float


@dataclass(slots=True)
class _Kept:
    """A job's last report; the thread that builds the next one holds the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    last: _Built | None = None


class ReportCache:
    """Builds a report where rows have come since the last one. Safe to share between threads.

    A million rows take half a minute: while a job runs, such a report may be ten times as old as it took to
    build, so that those who look on every few seconds leave the machine to others, and is given out until
    the next one is built. Reports built within a second, and those of jobs that have ended, are always
    of all rows. The store keeps the report of a job that has ended until the code that makes it changes.
    """

    def __init__(
        self,
        store: Store,
        build: "Callable[[Store, str], Report]",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._build, self._clock = store, build, clock
        self._kept: LRUCache[str, _Kept] = LRUCache(KEPT)
        self._lock = threading.Lock()

    def get(self, job_id: str) -> "tuple[Report, float]":
        """The report, and how many seconds old it is: 0 if of all rows; its readers never change it.

        Raises:
            NotFound: the job does not exist.
            Unwanted: it is not wanted any more, see `gnomon.stopping`.
        """
        stamp = self._stamp(job_id)
        kept = self._place(job_id)
        old = kept.last
        if old is None or not _may_be_old(old, stamp):
            while not kept.lock.acquire(timeout=LOOK_S):
                check_wanted()
        elif not kept.lock.acquire(blocking=False):
            return old.report, self._age_s(old, stamp)
        try:
            return self._newest(kept, job_id)
        finally:
            kept.lock.release()

    def stamp(self, job_id: str) -> str:
        """What names the report of all rows that the job has now.

        Raises:
            NotFound: the job does not exist.
        """
        return self._stamp(job_id).name

    def _newest(self, kept: _Kept, job_id: str) -> "tuple[Report, float]":
        stamp, last = self._stamp(job_id), kept.last
        if last is None or (last.stamp != stamp and not self._may_wait(last, stamp)):
            began_s = self._clock()
            report, at_s = self._read_or_built(job_id, stamp), self._clock()
            last = kept.last = _Built(report=report, stamp=stamp, at_s=at_s, took_s=at_s - began_s)
        return last.report, self._age_s(last, stamp)

    def _may_wait(self, last: _Built, stamp: _Stamp) -> bool:
        return _may_be_old(last, stamp) and self._age_s(last, stamp) < MAX_STALENESS * last.took_s

    def _age_s(self, last: _Built, stamp: _Stamp) -> float:
        return 0.0 if last.stamp == stamp else self._clock() - last.at_s

    def _read_or_built(self, job_id: str, stamp: _Stamp) -> "Report":
        """The kept report of a job that has ended, else one that is built, and kept if the job has ended."""
        if stamp.state.status in OPEN:
            return self._build(self._store, job_id)
        name = stamp.name
        body = self._store.kept(job_id, KIND, name)
        if body is not None:
            return cast("Report", json.loads(zlib.decompress(body)))
        report = self._build(self._store, job_id)
        keep_quietly(self._store, job_id, KIND, name, zlib.compress(json.dumps(report).encode()))
        return report

    def _stamp(self, job_id: str) -> _Stamp:
        return _Stamp(self._store.job_state(job_id), self._store.human_answers_stamp(job_id))

    def _place(self, job_id: str) -> _Kept:
        with self._lock:
            return self._kept.setdefault(job_id, _Kept())


def _may_be_old(last: _Built, stamp: _Stamp) -> bool:
    status = stamp.state.status
    return status in OPEN and last.stamp.state.status == status and last.took_s > SLOW_S


def kept_stamp(state: JobState) -> str:
    """What a report is made of: the job's results, and the code that reads them."""
    return f"{_code_version()}-{state.stamp}"


def keep_quietly(store: Store, job_id: str, kind: str, stamp: str, body: bytes) -> None:
    """Keep a document if the store takes it now; else it is computed again the next time."""
    try:
        store.keep(job_id, kind, stamp, body)
    except SQLAlchemyError as error:
        log.warning("the %s of job %s is not kept: %s", kind, job_id, in_words(error))


@functools.cache
def _code_version() -> str:
    """A hash of the kernel's files: another Gnomon may compute, say or draw something else."""
    folder, digest = Path(gnomon.__file__).parent, hashlib.sha256()
    for file in sorted(file for pattern in CODE for file in folder.rglob(pattern)):
        digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
