"""Writes down until when a job waits for a provider that was called too often."""

import asyncio
import logging
import math

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.provider_wait import LONG_WAIT_S
from gnomon_workers.store.database import in_words
from gnomon_workers.store.store import Store

MORE_S = 1.0  # a wait that ends hardly later than the last is not written again
log = logging.getLogger(__name__)


class WaitRecord:
    """Writes down until when one model of a job is not called, and why; short waits are not worth it."""

    def __init__(self, store: Store, job_id: str, model: str) -> None:
        self._store, self._job_id, self._model = store, job_id, model
        self._until_s = -math.inf  # by the loop's clock

    async def note(self, message: str, wait_s: float) -> None:
        """Write down what the provider said, and that it is not called for so many seconds; not while the
        store is away.
        """
        until_s = asyncio.get_running_loop().time() + wait_s
        if wait_s < LONG_WAIT_S or until_s <= self._until_s + MORE_S:
            return
        self._until_s = until_s
        log.info("job %s: %s waits %.0f s for its provider: %s", self._job_id, self._model, wait_s, message)
        try:
            await asyncio.to_thread(
                self._store.note_wait, self._job_id, self._model, error=message, wait_s=wait_s
            )
        except SQLAlchemyError as error:
            log.warning("job %s: a wait is not written down: %s", self._job_id, in_words(error))
