"""Writes results to the store in batches."""

import asyncio
import logging
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from gnomon_workers.budget.usage import Usage
from gnomon_workers.store.database import in_words, is_passing
from gnomon_workers.store.records import Lease
from gnomon_workers.store.results import Ended, usage_of
from gnomon_workers.store.store import Store

FLUSH_ROWS = 100
log = logging.getLogger(__name__)


class ResultWriter:
    """Writes what is added every `flush_s` seconds, or as soon as FLUSH_ROWS results wait.

    `after` is called, in the writing thread, with what each batch that was written has cost; `on_unwritable`
    when the store takes none now.
    """

    def __init__(
        self,
        store: Store,
        *,
        flush_s: float,
        after: Callable[[list[Usage]], None],
        on_unwritable: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._flush_s, self._after = store, flush_s, after
        self._on_unwritable = on_unwritable
        self._ended: list[Ended] = []
        self._is_full = asyncio.Event()
        self._lock = asyncio.Lock()

    def add(self, ended: Ended) -> None:
        """Take a result; it is safe once a flush has come back."""
        self._ended.append(ended)
        if len(self._ended) >= FLUSH_ROWS:
            self._is_full.set()

    def leases(self) -> list[Lease]:
        """Of the results that still wait."""
        return [lease for lease, _, _ in self._ended]

    async def flush_periodically(self) -> None:
        """Write from time to time, until cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._flush_s):
                    await self._is_full.wait()
            except TimeoutError:
                pass
            await self.flush()

    async def flush(self) -> bool:
        """Write all that waits now; return whether that worked. What did not stays for the next time."""
        async with self._lock:
            batch, self._ended = self._ended, []
            self._is_full.clear()
            if not batch:
                return True
            try:
                refused = await asyncio.shield(asyncio.to_thread(self._write, batch))
            except Exception as error:
                expected = isinstance(error, SQLAlchemyError)
                said = in_words(error)
                log.warning("%d results not written yet: %s", len(batch), said, exc_info=not expected)
                self._ended = batch + self._ended
                if expected and is_passing(error):
                    self._on_unwritable()
                return False
        if refused:
            log.warning("%d results came too late and were refused", len(refused))
        return True

    async def drain(self, *, give_up: Callable[[], bool]) -> None:
        """Write all that waits, as often as it takes, unless `give_up` says that it is too late."""
        while not await self.flush():
            if give_up():
                return
            await asyncio.sleep(self._flush_s)

    def _write(self, batch: list[Ended]) -> set[str]:
        refused = self._store.finish(batch)
        self._after([usage_of(ended) for ended in batch])
        return refused
