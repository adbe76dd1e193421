"""Looks at jobs that may stop early, as their results come, and stops those that are decided."""

import logging
import math
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.core.sample import SampleRef
from gnomon.exchange.foreign import benchmark_called
from gnomon.spec.job_spec import JobSpec
from gnomon_workers.store.records import OPEN
from gnomon_workers.store.store import Store

if TYPE_CHECKING:
    from gnomon.report.sequence import Look
    from gnomon.statistics.design import Headline

GROWTH = 1.02  # where a look is due but some of its trials run yet, it is tried again after so many more
log = logging.getLogger(__name__)


class Looker:
    """Looks at one job, from whichever thread has just written results. Workers may look side by side."""

    def __init__(self, store: Store, job_id: str, spec: JobSpec, *, headline: "Headline") -> None:
        self._store, self._job_id, self._spec, self._headline = store, job_id, spec, headline
        self._refs: Sequence[SampleRef] = ()
        self._due: dict[int, int] = {}  # by the clusters of each planned look, the trials that it takes
        self._next = 0.0  # how many trials end before it is tried again
        self._lock = threading.Lock()

    def look(self) -> None:
        """Look if the clusters of a planned look may have ended, and at the end of the job in any case.

        What goes wrong is logged: results are written whether or not they can be looked at.
        """
        try:
            self._look()
        except Exception as error:  # noqa: BLE001 - a job that cannot be looked at runs to its end
            log.warning("job %s cannot be looked at now: %r", self._job_id, error)

    def _look(self) -> None:
        with self._lock:
            state = self._store.job_state(self._job_id)
            if state.done and (state.done >= self._next or state.status not in OPEN):
                look = self._take()
                left = [trials for clusters, trials in self._due.items() if clusters > look["clusters"]]
                self._next = max(min(left, default=math.inf), GROWTH * state.done)
                self._record(look)

    def _take(self) -> "Look":
        from gnomon.report.look import due_after, take_look  # late: SciPy, which most processes do without

        self._refs = self._refs or self._store.refs(self._job_id)
        self._due = self._due or due_after(self._spec, self._refs, headline=self._headline)
        ended = self._store.ended_trials(self._job_id)
        return take_look(self._spec, self._refs, ended, headline=self._headline)

    def _record(self, look: "Look") -> None:
        if look["clusters"] and self._store.record_look(self._job_id, look):
            log.info("job %s is decided after %d trials and stops", self._job_id, look["trials"])


class LookerOfAll:
    """Looks at all open jobs that may stop early: workers that look may have died."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lookers: dict[str, Looker] = {}

    def look(self) -> None:
        """Look at each where enough has come."""
        open_jobs = self._store.open_sequential_jobs()
        self._lookers = {job_id: self._lookers.get(job_id) or self._looker(job_id) for job_id in open_jobs}
        for looker in self._lookers.values():
            looker.look()

    def _looker(self, job_id: str) -> Looker:
        spec = self._store.job(job_id).spec
        return Looker(self._store, job_id, spec, headline=benchmark_called(spec.benchmark).headline)
