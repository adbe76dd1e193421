"""What looks would wait for is done before them, and indexes of large jobs follow their results."""

import threading
import time

import pytest
from fastapi import FastAPI
from jinja2 import Environment
from starlette.testclient import TestClient

from service import warming
from service.api.state import State
from service.trial_indexes import TrialIndexes
from service.warming import Warming, follow_jobs
from service.web.pages import environment
from tests.service.play import finish_all, post, row_of
from workers.store.store import Store


@pytest.fixture
def app(api: TestClient) -> FastAPI:
    assert isinstance(api.app, FastAPI)
    return api.app


@pytest.fixture
def state(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> State:
    """The state of an API to which every job is large."""
    monkeypatch.setattr(warming, "LARGE", 1)
    state: State = app.state.gnomon
    return state


def wait_until_warm(thread: Warming) -> None:
    give_up_s = time.monotonic() + 60
    while not thread.is_warm:
        assert time.monotonic() < give_up_s
        time.sleep(0.05)


def test_a_page_finds_its_template_compiled_and_its_index_read(
    api: TestClient, app: FastAPI, state: State, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = post(api)
    finish_all(store, job_id)
    environment.cache_clear()
    thread = Warming(app)
    thread.start()
    wait_until_warm(thread)
    thread.close()
    monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("a template is compiled"))
    monkeypatch.setattr(Store, "iter_columns", lambda *_: pytest.fail("results are read"))
    index = state.indexes.at_hand(job_id)
    assert index is not None
    for path in (f"/ui/jobs/{job_id}/trials", f"/ui/jobs/{job_id}/trials?view=trials", "/ui/tools", "/"):
        assert api.get(path).status_code == 200
    assert app.openapi_schema is not None


def test_nothing_is_drawn_or_kept_before_somebody_looks(app: FastAPI, state: State) -> None:
    thread = Warming(app)
    thread.start()
    wait_until_warm(thread)
    thread.close()
    kept = state.settings.data_dir / "media"
    assert not [path for path in kept.rglob("*") if path.is_file()]


def test_it_begins_when_the_api_answers(app: FastAPI) -> None:
    answers = threading.Event()
    thread = Warming(app, is_answering=answers.is_set)
    thread.start()
    time.sleep(0.3)
    assert not thread.is_warm
    answers.set()
    wait_until_warm(thread)
    thread.close()
    waiting = Warming(app, is_answering=lambda: False)
    waiting.start()
    waiting.close()
    assert not waiting.is_alive()


def test_a_thread_that_is_closed_ends_between_two_steps(app: FastAPI) -> None:
    never_started, thread = Warming(app), Warming(app)
    thread.start()
    thread.close()
    never_started.close()
    assert not thread.is_alive()


def test_jobs_that_run_are_followed_before_the_newest(
    api: TestClient, state: State, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[str] = []
    monkeypatch.setattr(TrialIndexes, "follow", lambda _, job_id: followed.append(job_id))
    monkeypatch.setattr(warming, "JOBS", 2)
    running = post(api)
    lease = store.lease(running, 0, worker="w", ttl_s=60, limit=1)[0]
    store.finish([(lease, row_of(lease), {})])
    ended = [post(api) for _ in range(2)]
    for job_id in ended:
        finish_all_of(store, job_id)
    post(api)  # of which nothing has ended
    follow_jobs(state)
    assert followed == [running, ended[-1]]


def finish_all_of(store: Store, job_id: str) -> None:
    for shard in range(store.job(job_id).shards):
        leases = store.lease(job_id, shard, worker="w", ttl_s=60)
        store.finish([(lease, row_of(lease), {}) for lease in leases])


def test_a_view_is_looked_into_before_it_is_asked_for_an_attribute() -> None:
    text = "{{ view.name }} {{ view.items()|length }} {{ view['items'] }} {{ view.absent is defined }}"
    view = {"name": "a", "items": "b", "values": "c"}
    assert environment().from_string(text).render(view=view) == "a 3 b False"
