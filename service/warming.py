"""Does in the background, once the API answers, what looks would else wait for.

First it imports what only some routes need and compiles the pages' templates. Then it keeps the indexes of
large jobs up to date: of those that run, and of the newest.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from fastapi import FastAPI

from gnomon.stopping import Unwanted, check_wanted, stoppable
from service.api.state import State
from service.jobs import draft_from_request
from service.web.pages import environment
from service.web.spec_form import DEFAULT
from service.web.tool_pages import tool_list
from workers.store.database import in_words
from workers.store.job_counters import OPEN

JOBS = 4  # whose indexes are kept up to date
LARGE = 2_000  # trials; the index of a smaller job takes no time
EVERY_S = 5.0
LOOK_S = 0.05  # between looks whether the API answers
FIRST_TEMPLATES = ("trials.html.j2", "sample.html.j2", "trace.html.j2", "job.html.j2", "home.html.j2")
log = logging.getLogger(__name__)


class Warming:
    """A thread that reads ahead once the API answers, until it is closed."""

    def __init__(self, app: FastAPI, *, is_answering: Callable[[], bool] = lambda: True) -> None:
        self._app, self._is_answering = app, is_answering
        self._is_closed = threading.Event()
        self._is_warm = threading.Event()
        self._thread = threading.Thread(target=self._run, name="warming", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait until it has stopped."""
        self._is_closed.set()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def is_warm(self) -> bool:
        """Whether all has been done that is done once."""
        return self._is_warm.is_set()

    def is_alive(self) -> bool:
        """Whether it is at work."""
        return self._thread.is_alive()

    def _run(self) -> None:
        state: State = self._app.state.gnomon
        while not self._is_answering():  # what the server itself has to do comes first
            if self._is_closed.wait(LOOK_S):
                return
        with stoppable(lambda: not self._is_closed.is_set()), suppress(Unwanted):
            for step in _steps(self._app, state):
                _do(step)
            self._is_warm.set()
            while not self._is_closed.wait(EVERY_S):
                _do(partial(follow_jobs, state))


def follow_jobs(state: State) -> None:
    """Bring the indexes of the large jobs up to date that run, and of the newest."""
    jobs = state.store.digests(limit=JOBS)
    jobs.sort(key=lambda job: job.status not in OPEN)  # the others stay in their order, newest first
    for job in [job for job in jobs if job.processed >= LARGE][:JOBS]:
        check_wanted()
        state.indexes.follow(job.id)


def _do(step: Callable[[], object]) -> None:
    try:
        check_wanted()
        step()
    except Unwanted:
        raise
    except Exception as error:  # noqa: BLE001 - a look does the same again, and says what is wrong
        log.info("left to the first look: %s", in_words(error))


def _steps(app: FastAPI, state: State) -> Iterator[Callable[[], object]]:
    templates = environment()
    yield _import_index
    for name in FIRST_TEMPLATES:
        yield partial(templates.get_template, name)
    yield partial(follow_jobs, state)
    for name in templates.list_templates():
        yield partial(templates.get_template, name)
    yield _import_reports
    yield _import_catalog
    yield partial(_foresee_new_job, state)
    yield app.openapi


def _import_index() -> None:
    import gnomon.report.trial_index.index  # noqa: F401


def _import_reports() -> None:
    import PIL.Image

    import service.report_samples
    import service.reports  # noqa: F401

    PIL.Image.init()  # its readers of formats, with which pages look at pictures


def _foresee_new_job(state: State) -> None:
    # No more of a plan is made: that opens samples, which may draw pictures and keep them.
    from service.planning import foresee

    foresee(draft_from_request(DEFAULT, state.settings))


def _import_catalog() -> None:
    from service.api.catalog import list_agents, list_benchmarks, list_presets, list_tools

    for listed in (list_benchmarks, list_tools, list_agents, list_presets, tool_list):
        check_wanted()
        listed()
