"""Keeps an index of trials for each job that is looked at, and adds the results that have come since."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.stopping import check_wanted
from service.report_cache import keep_quietly
from workers.store.job_counters import OPEN
from workers.store.records import JobState
from workers.store.store import Store

if TYPE_CHECKING:  # else imported late: with SciPy's functions, a third of the API's start
    from gnomon.report.trial_index.index import TrialIndex

KIND = "trials"  # of the document in the store
MAX_BYTES = 256 << 20  # of all indexes in memory, without what is worked out from them
MIN_AGE_S = 1.0  # an index of a running job is not extended more often
LARGE = 50_000  # trials from which the index of a running job is kept,
GROWN = 1.5  # and how many times as large it is when it is kept again


@dataclass(slots=True)
class _Place:
    """A job's index and what it was made of; the thread that extends it holds the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    index: "TrialIndex | None" = None
    state: JobState | None = None
    at_s: float = 0.0
    nbytes: int = 0
    kept_size: int = 0  # trials of the index that the store has of a job that runs


class TrialIndexes:
    """The indexes of the jobs that were looked at last. Safe to share between threads.

    That of a job that has ended is kept in the store as well. That of a running job may lack the results of
    the last second.
    """

    def __init__(
        self, store: Store, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._max_bytes, self._clock = store, max_bytes, clock
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, job_id: str) -> "TrialIndex":
        """The job's index.

        Raises:
            NotFound: the job does not exist.
        """
        # Of results alone: preflights and seals that come later leave an index as it is.
        state = self._store.job_state(job_id)._replace(open_checks=0, seal_lines=0)
        place = self._place(job_id)
        with place.lock:
            index = place.index
            if index is None or (place.state != state and not self._is_recent(place, state)):
                index = self._load(job_id, state) if index is None else self._renewed(job_id, index, state)
                place.index, place.state, place.at_s = index, state, self._clock()
                place.nbytes = index.nbytes
        self._evict(keep=job_id)
        return index

    def at_hand(self, job_id: str) -> "TrialIndex | None":
        """The job's index as it was last looked at, if it is in memory; nothing is read."""
        with self._lock:
            place = self._places.get(job_id)
        return None if place is None else place.index

    def follow(self, job_id: str) -> None:
        """Bring the job's index up to date; keep that of a job that runs once it has grown by half."""
        from gnomon.report.trial_index.columns import FORMAT

        index, place = self.get(job_id), self._place(job_id)
        is_open = place.state is not None and place.state.status in OPEN
        if is_open and index.size >= max(LARGE, GROWN * place.kept_size):
            place.kept_size = index.size
            keep_quietly(self._store, job_id, KIND, _so_far(FORMAT), index.to_bytes())

    def _is_recent(self, place: _Place, state: JobState) -> bool:
        is_running = state.status in OPEN and place.state is not None and place.state.status == state.status
        return is_running and self._clock() - place.at_s < MIN_AGE_S

    def _load(self, job_id: str, state: JobState) -> "TrialIndex":
        from gnomon.report.trial_index.columns import FORMAT
        from gnomon.report.trial_index.index import TrialIndex

        stamp = f"{FORMAT}-{state.stamp}"
        if state.status not in OPEN and (body := self._store.kept(job_id, KIND, stamp)) is not None:
            return TrialIndex.from_bytes(body)
        index = self._begun(job_id, state, stamp=_so_far(FORMAT))
        return self._completed(job_id, self._read(job_id) if index is None else index, state)

    def _begun(self, job_id: str, state: JobState, *, stamp: str) -> "TrialIndex | None":
        """The index that was kept while the job ran, with what has come since; None if it is of no use."""
        from gnomon.report.trial_index.index import TrialIndex

        body = self._store.kept(job_id, KIND, stamp)
        if body is None:
            return None
        index = TrialIndex.from_bytes(body)
        self._place(job_id).kept_size = index.size
        return self._with_later(job_id, index, state)

    def _renewed(self, job_id: str, index: "TrialIndex", state: JobState) -> "TrialIndex":
        renewed = self._with_later(job_id, index, state)
        return self._load(job_id, state) if renewed is None else self._completed(job_id, renewed, state)

    def _with_later(self, job_id: str, index: "TrialIndex", state: JobState) -> "TrialIndex | None":
        """The index with what has come since; None if a resumed job has given back some of its results."""
        if index.last_seq > state.last_seq:
            return None
        index = self._extended(job_id, index)
        return index if index.size_until(state.last_seq) == state.done else None

    def _read(self, job_id: str) -> "TrialIndex":
        from gnomon.report.trial_index.index import TrialIndex

        spec = self._store.job(job_id).spec
        models, arms = [model.label for model in spec.models], [arm.name for arm in spec.arms]
        return self._extended(job_id, TrialIndex.empty(models, arms)).prepared()

    def _completed(self, job_id: str, index: "TrialIndex", state: JobState) -> "TrialIndex":
        """The index; of a job that has ended with the samples that have not run, and kept."""
        from gnomon.report.trial_index.columns import FORMAT, PLAN_COLUMNS

        if state.status in OPEN:
            return index
        unrun = self._store.unrun_samples(job_id)
        index = index.extended((), [[getattr(ref, name) for name in PLAN_COLUMNS] for ref in unrun])
        if index.size == index.size_until(state.last_seq) == state.done:
            keep_quietly(self._store, job_id, KIND, f"{FORMAT}-{state.stamp}", index.to_bytes())
        return index

    def _extended(self, job_id: str, index: "TrialIndex") -> "TrialIndex":
        from gnomon.report.trial_index.columns import STORED_COLUMNS

        for rows in self._store.iter_columns(job_id, index.last_seq, STORED_COLUMNS):
            check_wanted()
            index = index.extended(rows)
        return index

    def _place(self, job_id: str) -> _Place:
        with self._lock:
            place = self._places.setdefault(job_id, _Place())
            self._places.move_to_end(job_id)
            return place

    def _evict(self, *, keep: str) -> None:
        """Forget the indexes that were not looked at for longest, until the others fit."""
        with self._lock:
            total = sum(place.nbytes for place in self._places.values())
            for job_id in [name for name in self._places if name != keep]:
                if total <= self._max_bytes:
                    return
                total -= self._places.pop(job_id).nbytes


def _so_far(version: str) -> str:
    """What the index of a job that runs is kept under."""
    return f"{version}-so-far"
