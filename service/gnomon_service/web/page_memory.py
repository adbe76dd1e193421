"""Remembers for pages, between requests: causes of missing trials, rates, and a large draft."""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection

from cachetools import LRUCache, TTLCache

from gnomon_service.jobs import Draft
from gnomon_workers.store.records import JobDigest, MissingTrials
from gnomon_workers.store.store import Store

JOB_RATE_S, TOTAL_RATE_S = 30.0, 900.0  # over how long the pages say how fast trials end
PLANS_AT_ONCE = 2
CHECKS_AT_ONCE = 2
CAUSES_KEPT = 1_000  # jobs
DRAFT_KEPT_S = 600.0
KEPT = 200  # counts that are followed
APART_S = 1.0  # looks that are closer together are one


class ProgressRates:
    """Rates of counts that grow. Safe to share between threads.

    >>> now = [0.0]
    >>> rates = ProgressRates(window_s=60.0, clock=lambda: now[0])
    >>> rates.per_second("j_1", 10)
    >>> now[0] = 5.0
    >>> rates.per_second("j_1", 20)
    2.0
    """

    def __init__(self, *, window_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._window_s, self._clock = window_s, clock
        self._looks: LRUCache[str, deque[tuple[float, int]]] = LRUCache(KEPT)
        self._lock = threading.Lock()

    def per_second(self, name: str, count: int) -> float | None:
        """Note the count, and return its rate within the window; None at the first look.

        A count that has shrunk, as of a job that was resumed, is followed anew.
        """
        with self._lock:
            now_s = self._clock()
            looks = self._looks.setdefault(name, deque())
            if looks and count < looks[-1][1]:
                looks.clear()
            if not looks or now_s - looks[-1][0] >= APART_S:
                looks.append((now_s, count))
            while len(looks) > 2 and looks[1][0] <= now_s - self._window_s:
                looks.popleft()
            began_s, before = looks[0]
        took_s = now_s - began_s
        return (count - before) / took_s if took_s >= APART_S else None


class PageMemory:
    """The memory of one app's pages. Safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self.job_rates = ProgressRates(window_s=JOB_RATE_S)
        self.total_rates = ProgressRates(window_s=TOTAL_RATE_S)
        # Plans open the samples: a few at a time, so that those who type leave the server to others.
        self.planning = threading.BoundedSemaphore(PLANS_AT_ONCE)
        self.checking = threading.BoundedSemaphore(CHECKS_AT_ONCE)  # of endpoints, a process each
        self.steps: dict[str, str] = {}  # how far the checks are that run now, by the token of their page
        # The last large upload that was checked, so that to run it does not read it again.
        self.drafts: TTLCache[str, Draft] = TTLCache(1, DRAFT_KEPT_S)
        self._store, self._lock = store, threading.Lock()
        self._causes: LRUCache[tuple[str, int], tuple[MissingTrials, ...]] = LRUCache(CAUSES_KEPT)

    def draft(self, name: str, make: Callable[[], Draft]) -> Draft:
        """The draft of that name: the one that is kept, or what `make` returns."""
        with self._lock:
            draft = self.drafts.get(name)
        draft = draft or make()
        with self._lock:
            self.drafts[name] = draft
        return draft

    def missing(self, digests: Collection[JobDigest]) -> dict[str, tuple[MissingTrials, ...]]:
        """Why trials are missing, by job; read again only where more are."""
        keys = {job.id: (job.id, job.infra_missing) for job in digests if job.infra_missing}
        with self._lock:
            causes = {job_id: self._causes[key] for job_id, key in keys.items() if key in self._causes}
        new = keys.keys() - causes.keys()
        read = self._store.missing_trials(new) if new else []
        causes |= {job_id: tuple(cause for cause in read if cause.job_id == job_id) for job_id in new}
        with self._lock:
            self._causes.update({keys[job_id]: causes[job_id] for job_id in new})
        return causes
