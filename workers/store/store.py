"""Puts the store together: everything that must outlive a process."""

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.errors import SpecError
from workers.store.answers import Answers
from workers.store.budgets import BudgetStore
from workers.store.checkpoints import Checkpoints
from workers.store.derived import Derived
from workers.store.finished_jobs import FinishedJobs
from workers.store.job_lists import JobLists
from workers.store.leases import Leases
from workers.store.look_records import LookRecords
from workers.store.model_checks import ModelChecks
from workers.store.responses import Responses
from workers.store.results import Results
from workers.store.reviews import Reviews
from workers.store.seals import Seals
from workers.store.worker_registry import WorkerRegistry


class Store(
    FinishedJobs,
    JobLists,
    Leases,
    Results,
    Checkpoints,
    Answers,
    ModelChecks,
    Responses,
    BudgetStore,
    WorkerRegistry,
    Derived,
    LookRecords,
    Reviews,
    Seals,
):
    """Jobs, leases, results, checkpoints, models, replies, budgets, workers, documents and more: one place.

    `Store(url)`: `sqlite:///FILE` (made if absent, with its folder) or a PostgreSQL URL. Tables are made
    if absent. `clock` replaces the database's clock in tests.
    """


def open_store(url: str) -> Store:
    """The store at `url`, made if absent.

    Raises:
        SpecError: it cannot be opened; the message holds no part of the URL, for that may hold a password.
    """
    try:
        return Store(url)
    except (SQLAlchemyError, OSError) as error:
        message = f"the database does not open: {type(error).__name__}"
        raise SpecError(message, field="GNOMON_DATABASE_URL") from None
