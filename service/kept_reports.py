"""Kept reports: the last one of each job, built once for all who ask at the same time."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workers.store.counters import OPEN
from workers.store.store import Store

if TYPE_CHECKING:
    from gnomon.report.schema import Report

KEPT = 8  # jobs
SLOW_S = 1.0  # what takes no longer to build is never old
PATIENCE = 10  # a slow one of a job that runs may be as many times as old as it took to build


@dataclass(slots=True)
class _Kept:
    """A job's report, `stamp` what it was built from, and when and in what time that was."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    report: "Report | None" = None
    stamp: tuple[str, int] | None = None
    built_s: float = 0.0
    took_s: float = 0.0


class KeptReports:
    """Builds a report where rows have come since the last one. Safe to share between threads.

    A million rows take half a minute: while a job runs, such a report may be ten times as old as it took to
    build, so that those who look on every few seconds leave the machine to others. Reports built within a
    second, and those of jobs that have ended, are always of all rows.
    """

    def __init__(
        self,
        store: Store,
        build: "Callable[[Store, str], Report]",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._build, self._clock = store, build, clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, job_id: str) -> "tuple[Report, float]":
        """The report, and how many seconds ago it was built; never changed by whoever gets it.

        Raises:
            NotFound: there is no such job.
        """
        self._store.job(job_id)
        kept = self._place(job_id)
        with kept.lock:
            stamp = (self._store.job(job_id).status, self._store.last_seq(job_id))
            if kept.report is None or (stamp != kept.stamp and not self._may_wait(kept, stamp[0])):
                began_s = self._clock()
                kept.report, kept.stamp = self._build(self._store, job_id), stamp
                kept.built_s = self._clock()
                kept.took_s = kept.built_s - began_s
            return kept.report, self._clock() - kept.built_s

    def _may_wait(self, kept: _Kept, status: str) -> bool:
        is_same_status = kept.stamp is not None and kept.stamp[0] == status
        age_s = self._clock() - kept.built_s
        return status in OPEN and is_same_status and kept.took_s > SLOW_S and age_s < PATIENCE * kept.took_s

    def _place(self, job_id: str) -> _Kept:
        with self._lock:
            kept = self._kept.setdefault(job_id, _Kept())
            self._kept.move_to_end(job_id)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return kept
