"""Renews a shard's leases from a thread, whatever the event loop is busy with."""

import logging
import threading
import time
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from gnomon_workers.settings import Timing
from gnomon_workers.store.database import in_words
from gnomon_workers.store.store import Store

log = logging.getLogger(__name__)


class Heartbeat:
    """Renews what `holder` has and watches its job. Use it as a context manager; read its attributes at will.

    `is_open` is whether the job was open at the last look. `held` is what the last renewal found, as (trial
    id, token), and `held_since_s` when that renewal began: a lease from before that is not in it is lost.
    `can_write` is whether the store took what was written last: while it is not, no call is paid for, as its
    reply could not be kept, and every turn tries again. Times are of `time.monotonic`.
    """

    def __init__(self, store: Store, *, job_id: str, holder: str, timing: Timing) -> None:
        self._store, self._job_id, self._timing = store, job_id, timing
        self.holder = holder
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self.is_open = self.can_write = True
        self.held_since_s = time.monotonic()
        self.held: set[tuple[str, int]] = set()

    @property
    def is_lost(self) -> bool:
        """Whether nothing was renewed for as long as a lease lasts: others may run the trials by now."""
        return time.monotonic() - self.held_since_s >= self._timing.lease_s

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def poll_job(self) -> None:
        """Look at the job now."""
        self.is_open = self._store.is_open(self._job_id)

    def note_unwritable(self) -> None:
        """The store took nothing: until it does, `can_write` is false."""
        self.can_write = False

    def _run(self) -> None:
        while not self._stop.wait(min(self._timing.watch_s, self._timing.renew_s)):
            began_s = time.monotonic()
            try:
                self.poll_job()
                if began_s - self.held_since_s >= self._timing.renew_s or not self.can_write:
                    self.held = self._store.renew(self.holder, ttl_s=self._timing.lease_s)
                    self.held_since_s, self.can_write = began_s, True
            except SQLAlchemyError as error:
                self.note_unwritable()
                log.warning("heartbeat of %s failed: %s", self.holder, in_words(error))
