"""Puts the store together: everything that must outlive a process."""

import logging

from sqlalchemy.exc import OperationalError, SQLAlchemyError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from gnomon.core.errors import SpecError
from gnomon_workers.store.activity import Activity
from gnomon_workers.store.answers import Answers
from gnomon_workers.store.budgets import BudgetStore
from gnomon_workers.store.checkpoints import Checkpoints
from gnomon_workers.store.database import in_words
from gnomon_workers.store.deletions import Deletions
from gnomon_workers.store.derived import Derived
from gnomon_workers.store.finished_jobs import FinishedJobs
from gnomon_workers.store.job_lists import JobLists
from gnomon_workers.store.leases import Leases
from gnomon_workers.store.look_records import LookRecords
from gnomon_workers.store.model_checks import ModelChecks
from gnomon_workers.store.notices import Notices
from gnomon_workers.store.preparation import Preparation
from gnomon_workers.store.responses import Responses
from gnomon_workers.store.results import Results
from gnomon_workers.store.reviews import Reviews
from gnomon_workers.store.seals import Seals
from gnomon_workers.store.worker_registry import WorkerRegistry

MAX_PAUSE_S = 5.0  # between two attempts to reach a server
log = logging.getLogger(__name__)


class Store(
    FinishedJobs,
    Preparation,
    JobLists,
    Deletions,
    Leases,
    Results,
    Checkpoints,
    Answers,
    Activity,
    ModelChecks,
    Responses,
    BudgetStore,
    WorkerRegistry,
    Derived,
    LookRecords,
    Notices,
    Reviews,
    Seals,
):
    """Jobs, leases, results, checkpoints, models, replies, budgets, workers, documents and more: one place.

    `Store(url)`: `sqlite:///FILE` (made if absent, with its folder) or a PostgreSQL URL. Tables are made
    if absent. `clock` replaces the database's clock in tests.
    """


def open_store(url: str, *, patience_s: float = 0.0) -> Store:
    """The store at `url`, made if absent.

    A server that does not answer, or takes no more connections, is asked again for `patience_s` seconds,
    after pauses of random length, so that a fleet which starts at once does not knock in step.

    Raises:
        SpecError: it cannot be opened; the message holds no part of the URL, for that may hold a password.
    """
    try:
        if url.startswith("sqlite"):
            return Store(url)
        attempts = Retrying(
            retry=retry_if_exception_type(OperationalError),
            stop=stop_after_delay(patience_s),
            wait=wait_random_exponential(multiplier=0.5, max=MAX_PAUSE_S),
            before_sleep=_log_attempt,
            reraise=True,
        )
        return attempts(Store, url)
    except (SQLAlchemyError, OSError) as error:
        said = in_words(error) if url.startswith("sqlite") else type(error).__name__
        message = f"the database does not open: {said}"
        raise SpecError(message, field="GNOMON_DATABASE_URL") from None


def _log_attempt(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, Exception):
        log.warning("the database does not open yet: %s", in_words(error))
