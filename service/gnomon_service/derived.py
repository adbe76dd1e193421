"""Keeps what is made of jobs' results, one kind of thing each: reports, verdicts, indexes of trials.

One rule says when a thing is made again. What was made of all results that a job has is current, and is
never made twice. While a job runs, a thing that took long to make may be old: up to ten times as old as it
took, and until the next one is there. Whoever gets it is told its age. What is made at once is never old.
"""

import functools
import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from gnomon.stopping import Unwanted, check_wanted, stoppable
from gnomon_tools.core.outside import OWN_PACKAGES, find_module
from gnomon_workers.store.database import in_words
from gnomon_workers.store.records import OPEN
from gnomon_workers.store.store import Store

SLOW_S = 0.2  # what takes no longer to make is made at once
MAX_STALENESS = 10  # a view of a running job may be so many times as old as it took to make
LOOK_S = 0.5  # how often one who waits looks whether it is still wanted
CODE = ("*.py", "*.j2", "*.css")
T = TypeVar("T")
log = logging.getLogger(__name__)


class Stamp(NamedTuple):
    """What a thing is made of, as text, and the job's status: it changes when the thing would."""

    text: str
    status: str

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[T]):
    """How one kind of thing is made, named and stored.

    `make` gets the job and what was made of it last, which it may go on from. The store keeps what is made of
    jobs that have ended. In memory are the things that were looked at last, up to `room` in all.
    """

    name: str
    make: Callable[[str, T | None], T]
    stamp: Callable[[str], Stamp]
    to_bytes: Callable[[T], bytes]
    from_bytes: Callable[[bytes], T]
    room: int
    size: Callable[[T], int] = lambda _: 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Made(Generic[T]):
    """A thing, and how many seconds old it is: 0 if made of all results. Its readers never change it."""

    value: T
    stamp: Stamp
    at_s: float
    took_s: float
    is_current: bool = True
    age_s: float = 0.0


@dataclass(slots=True)
class _Place(Generic[T]):
    """What was last made for a job, the build under way, and why one failed. Builders hold the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    last: Made[T] | None = None
    maker: Future[None] | None = None
    problem: str = ""
    failed: Stamp | None = None
    size: int = 0


class Derived(Generic[T]):
    """The things of one kind, by job. Safe to share between threads."""

    def __init__(self, store: Store, kind: Kind[T], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self.kind, self._clock = store, kind, clock
        self._places: OrderedDict[str, _Place[T]] = OrderedDict()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=kind.name)
        self._is_closed = False

    def stamp(self, job_id: str) -> str:
        """What names the thing that would be made now.

        Raises:
            NotFound: the job does not exist.
        """
        return self.kind.stamp(job_id).text

    def get(self, job_id: str) -> Made[T]:
        """The thing; who asks while it is made waits for it, unless there is one that may be old.

        Raises:
            NotFound: the job does not exist.
            Unwanted: it is not wanted any more, see `gnomon.stopping`.
        """
        stamp = self.kind.stamp(job_id)
        place = self._place(job_id)
        last = place.last
        if last is None or not _may_be_old(last, stamp):
            while not place.lock.acquire(timeout=LOOK_S):
                check_wanted()
        elif not place.lock.acquire(blocking=False):
            return self._told(last, stamp)
        try:
            stamp, last = self.kind.stamp(job_id), place.last
            if last is None or self._is_due(last, stamp):
                last = self._make(job_id, place, stamp)
            return self._told(last, stamp)
        finally:
            place.lock.release()

    def soon(self, job_id: str, *, patience_s: float = 0.0) -> tuple[Made[T] | None, str]:
        """The last thing there is, if any, and why the next cannot be made; empty where it can.

        It is made in the background; that is waited for up to `patience_s` seconds, if the job has ended.

        Raises:
            NotFound: the job does not exist.
        """
        stamp = self.kind.stamp(job_id)
        place = self._place(job_id)
        if place.last is None or self._is_due(place.last, stamp):
            maker = self._make_ahead(job_id, place, stamp)
            if maker is not None and not stamp.is_open:
                wait([maker], patience_s)
        problem = place.problem if place.failed == stamp else ""
        return None if place.last is None else self._told(place.last, stamp), problem

    def listed(self, stamps: Mapping[str, Stamp]) -> dict[str, T]:
        """The things there are with these stamps, by job; the others are made in the background."""
        places = {job_id: self._place(job_id) for job_id in stamps}
        absent = [
            name for name, place in places.items() if not place.last or place.last.stamp != stamps[name]
        ]
        for job_id, (text, body) in self._store.kept_of(absent, self.kind.name).items():
            if text == stamps[job_id].text:
                self._put(job_id, places[job_id], self.kind.from_bytes(body), stamps[job_id], took_s=0.0)
        things = {}
        for job_id, place in places.items():
            if (last := place.last) is not None and last.stamp == stamps[job_id]:
                things[job_id] = last.value
            else:
                self._make_ahead(job_id, place, stamps[job_id])
        return things

    def being_made(self) -> frozenset[str]:
        """The jobs whose things are being made in the background, or wait for it."""
        with self._lock:
            return frozenset(name for name, place in self._places.items() if place.maker is not None)

    def close(self) -> None:
        """Stop making things in the background, and wait until that has stopped."""
        self._is_closed = True
        self._threads.shutdown(cancel_futures=True)

    def _told(self, last: Made[T], stamp: Stamp) -> Made[T]:
        return last if last.stamp == stamp else replace(last, is_current=False, age_s=self._age_s(last))

    def _age_s(self, last: Made[T]) -> float:
        return self._clock() - last.at_s

    def _is_due(self, last: Made[T], stamp: Stamp) -> bool:
        if last.stamp == stamp:
            return False
        return not _may_be_old(last, stamp) or self._age_s(last) >= MAX_STALENESS * last.took_s

    def _make_ahead(self, job_id: str, place: _Place[T], stamp: Stamp) -> "Future[None] | None":
        """Who makes the thing in the background; None if that has failed or was stopped."""
        with self._lock:
            if place.maker is None and place.failed != stamp and not self._is_closed:
                place.maker = self._threads.submit(self._try, job_id, place, stamp)
            return place.maker

    def _try(self, job_id: str, place: _Place[T], stamp: Stamp) -> None:
        try:
            with stoppable(lambda: not self._is_closed):
                self.get(job_id)
        except Unwanted:
            return
        except Exception as error:  # noqa: BLE001 - pages show all the rest
            place.problem, place.failed = in_words(error) or type(error).__name__, stamp
            log.warning("the %s of job %s cannot be made: %s", self.kind.name, job_id, in_words(error))
        finally:
            with self._lock:
                place.maker = None

    def _make(self, job_id: str, place: _Place[T], stamp: Stamp) -> Made[T]:
        kind, began_s = self.kind, self._clock()
        body = None if stamp.is_open else self._store.kept(job_id, kind.name, stamp.text)
        if body is not None:
            value = kind.from_bytes(body)
        else:
            value = kind.make(job_id, None if place.last is None else place.last.value)
            if not stamp.is_open and kind.stamp(job_id) == stamp:
                self._keep(job_id, stamp, kind.to_bytes(value))
        return self._put(job_id, place, value, stamp, took_s=self._clock() - began_s)

    def _keep(self, job_id: str, stamp: Stamp, body: bytes) -> None:
        """Keep it if the store takes it now; else it is made again the next time."""
        try:
            self._store.keep(job_id, self.kind.name, stamp.text, body)
        except SQLAlchemyError as error:
            log.warning("the %s of job %s is not kept: %s", self.kind.name, job_id, in_words(error))

    def _put(self, job_id: str, place: _Place[T], value: T, stamp: Stamp, *, took_s: float) -> Made[T]:
        last = place.last = Made(value=value, stamp=stamp, at_s=self._clock(), took_s=took_s)
        place.size = self.kind.size(value)
        with self._lock:  # what was not looked at for longest is forgotten, until the others fit
            total = sum(other.size for other in self._places.values())
            for other_id in [name for name in self._places if name != job_id]:
                if total <= self.kind.room:
                    break
                total -= self._places.pop(other_id).size
        return last

    def _place(self, job_id: str) -> _Place[T]:
        with self._lock:
            place = self._places.setdefault(job_id, _Place())
            self._places.move_to_end(job_id)
            return place


def _may_be_old(last: Made[T], stamp: Stamp) -> bool:
    return stamp.is_open and last.stamp.status == stamp.status and last.took_s > SLOW_S


@functools.cache
def code_version() -> str:
    """A hash of Gnomon's files and its packages': another one may compute, say or draw something else."""
    digest = hashlib.sha256()
    for package in ("gnomon", *sorted(name.replace("-", "_") for name in OWN_PACKAGES)):
        spec = find_module(package)
        if spec is None or spec.origin is None:
            continue  # it is not installed
        folder = Path(spec.origin).parent
        for file in sorted(file for pattern in CODE for file in folder.rglob(pattern)):
            digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
