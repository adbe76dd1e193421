"""Asks the store again while it is away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from gnomon_workers.store.database import in_words, is_passing

RETRY_S = 0.2
log = logging.getLogger(__name__)
T = TypeVar("T")


async def retry_until_store_answers(
    ask: Callable[[], Awaitable[T]], *, what: str, gives_up: Callable[[], bool] = lambda: False
) -> T:
    """What the store answers, however long it is away; `what` names the question in the log.

    Raises:
        SQLAlchemyError: it would never answer that, or it is away and `gives_up` says to wait no longer.
    """
    while True:
        try:
            return await ask()
        except SQLAlchemyError as error:
            if not is_passing(error) or gives_up():
                raise
            log.warning("%s: the store does not answer yet: %s", what, in_words(error))
            await asyncio.sleep(RETRY_S)
