"""A job's report is built once for all who ask, again when rows have come, and not all the time."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.errors import NotFound
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.spec.job_spec import JobSpec
from gnomon_service.derived import MAX_STALENESS, Derived
from gnomon_service.derived_kinds import reports_of
from gnomon_workers.store import Store
from gnomon_workers.store.missing import missing_row
from gnomon_workers.store.records import JobState
from tests.workers.conftest import wait_until

ASKERS = 4
SPEC = {
    "benchmark": "worlds",
    "models": [{"id": "scripted", "options": {"replies": ["B"]}}],
    "arms": [{"name": name, "agent": "direct"} for name in ("raw", "tools")],
}


class Workshop:
    """Builds what stands for a report: how many rows there are. Each takes `takes_s` of its own clock."""

    def __init__(self, *, takes_s: float = 0.0) -> None:
        self.now_s, self.takes_s, self.built = 0.0, takes_s, 0

    def build(self, store: Store, job_id: str) -> Any:
        self.now_s, self.built = self.now_s + self.takes_s, self.built + 1
        return {"rows": sum(1 for _ in store.iter_rows(job_id))}

    def clock(self) -> float:
        return self.now_s


def built_by(store: Store, build: Callable[[Store, str], Any], clock: Callable[[], float]) -> Derived[Any]:
    """Reports of the store's jobs, built by this."""
    kind = replace(reports_of(store).kind, make=lambda job_id, _: build(store, job_id))
    return Derived(store, kind, clock=clock)


def told(reports: Derived[Any], job_id: str) -> tuple[Any, float]:
    """The report, and its age."""
    made = reports.get(job_id)
    return made.value, made.age_s


def a_job(store: Store) -> str:
    refs = [SampleRef(sample_id=f"s{i}", task="T", cell="T", cluster=f"s{i}") for i in range(4)]
    return store.create_job(JobSpec.model_validate(SPEC), refs).id


def finish(store: Store, job_id: str, count: int, outcome: Outcome = Outcome.SCORED) -> None:
    leases = store.lease(job_id, 0, worker="w", ttl_s=60, limit=count) or store.lease(
        job_id, 1, worker="w", ttl_s=60, limit=count
    )
    rows = [
        replace(
            missing_row(lease.trial, benchmark="worlds", stop_reason="answered", attempt=1),
            outcome=outcome,
            score=1.0 if outcome == Outcome.SCORED else None,
        )
        for lease in leases
    ]
    store.finish([(lease, row, {}) for lease, row in zip(leases, rows, strict=True)])


def outdated(store: Store) -> tuple[Workshop, str, Derived[Any]]:
    """A running job whose report takes long, and was built before its last row."""
    shop, job = Workshop(takes_s=2.0), a_job(store)
    reports = built_by(store, shop.build, shop.clock)
    finish(store, job, 1)
    reports.get(job)
    finish(store, job, 1)
    return shop, job, reports


def test_nothing_is_built_again_until_a_row_has_come(store: Store) -> None:
    shop, job = Workshop(), a_job(store)
    reports = built_by(store, shop.build, shop.clock)
    values = [told(reports, job)[0] for _ in range(3)]
    assert (values, shop.built) == ([{"rows": 0}] * 3, 1)
    finish(store, job, 1)
    assert (told(reports, job)[0], shop.built) == ({"rows": 1}, 2)


def test_a_slow_report_of_a_running_job_may_be_old_and_says_so(store: Store) -> None:
    shop, job, reports = outdated(store)
    shop.now_s += 5.0
    assert told(reports, job) == ({"rows": 1}, 5.0)
    shop.now_s += 2.0 * MAX_STALENESS
    assert told(reports, job) == ({"rows": 2}, 0.0)


def test_a_job_that_has_ended_is_reported_in_full_at_once(store: Store) -> None:
    shop, job, reports = outdated(store)
    store.cancel(job)
    assert told(reports, job)[0] == {"rows": 2}
    finish_before = shop.built
    shop.now_s += 1_000.0
    assert told(reports, job) == ({"rows": 2}, 0.0)
    assert shop.built == finish_before


def test_rows_that_a_resumed_job_has_given_back_are_not_reported(store: Store) -> None:
    shop, job = Workshop(), a_job(store)
    reports = built_by(store, shop.build, shop.clock)
    finish(store, job, 2)
    finish(store, job, 1, Outcome.INFRA_MISSING)
    finish(store, job, 1)
    store.cancel(job)
    assert told(reports, job)[0] == {"rows": 4}
    store.resume(job)
    store.cancel(job)
    assert told(reports, job)[0] == {"rows": 3}


class Counted(Store):
    """A store that tells when `ASKERS` threads have looked for a job."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.asked: set[int] = set()
        self.all_asked = threading.Event()

    def job_state(self, job_id: str) -> JobState:
        found = super().job_state(job_id)
        self.asked.add(threading.get_ident())
        if len(self.asked) == ASKERS:
            self.all_asked.set()
        return found


def test_who_asks_while_the_first_report_is_built_waits_for_it(store: Store) -> None:
    job, counted, built = a_job(store), Counted(store.url), list[str]()

    def build(_: Store, job_id: str) -> Any:
        built.append(job_id)
        assert counted.all_asked.wait(30)
        return {}

    reports = built_by(counted, build, time.monotonic)
    with ThreadPoolExecutor(ASKERS) as pool:
        asked = [pool.submit(told, reports, job) for _ in range(ASKERS)]
        assert [one.result(60)[0] for one in asked] == [{}] * ASKERS
    assert built == [job]
    counted.close()


def test_who_may_have_the_old_report_does_not_wait_for_the_new_one(store: Store) -> None:
    shop, job, begun, go_on = Workshop(takes_s=2.0), a_job(store), threading.Event(), threading.Event()

    def build(from_store: Store, job_id: str) -> Any:
        if shop.built:
            begun.set()
            assert go_on.wait(30)
        return shop.build(from_store, job_id)

    reports = built_by(store, build, shop.clock)
    finish(store, job, 1)
    reports.get(job)
    finish(store, job, 1)
    shop.now_s += 2.0 * MAX_STALENESS
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(told, reports, job)
        try:
            assert begun.wait(30)
            second = pool.submit(told, reports, job)
            assert second.result(15) == ({"rows": 1}, 2.0 * MAX_STALENESS)
        finally:
            go_on.set()
        assert first.result(30) == ({"rows": 2}, 0.0)


def test_a_page_has_the_last_report_while_the_next_is_made(store: Store) -> None:
    shop, job = Workshop(takes_s=2.0), a_job(store)
    reports = built_by(store, shop.build, shop.clock)
    ages = []
    for shop.now_s in (0.0, 5.0, 30.0):
        finish(store, job, 1)
        reports.soon(job)
        wait_until(lambda: not reports.being_made())
        made, problem = reports.soon(job)
        assert made is not None
        ages.append((made.value["rows"], made.age_s, made.is_current, problem))
    assert ages == [(1, 0.0, True, ""), (1, 3.0, False, ""), (3, 0.0, True, "")]
    reports.close()


def test_the_page_of_a_job_that_has_ended_waits_for_its_report_but_not_long(store: Store) -> None:
    shop, job, go_on = Workshop(), a_job(store), threading.Event()
    finish(store, job, 2)
    store.cancel(job)

    def build(from_store: Store, job_id: str) -> Any:
        assert go_on.wait(30)
        return shop.build(from_store, job_id)

    reports = built_by(store, build, time.monotonic)
    assert reports.soon(job, patience_s=0.1) == (None, "")
    go_on.set()
    made, _ = reports.soon(job, patience_s=30)
    assert made is not None
    assert made.value == {"rows": 2}
    reports.close()


def test_a_report_that_cannot_be_made_is_tried_once_for_pages(store: Store) -> None:
    job, tried = a_job(store), list[str]()

    def build(_: Store, job_id: str) -> Any:
        tried.append(job_id)
        raise OSError("away")

    reports = built_by(store, build, time.monotonic)
    reports.soon(job)
    wait_until(lambda: not reports.being_made())
    assert [reports.soon(job) for _ in range(3)] == [(None, "OSError: away")] * 3
    assert tried == [job]
    finish(store, job, 1)
    assert reports.soon(job) == (None, "")
    wait_until(lambda: not reports.being_made())
    reports.close()
    assert tried == [job, job]


def test_a_failed_build_is_tried_again(store: Store) -> None:
    job, faults = a_job(store), [OSError("away")]

    def build(_: Store, job_id: str) -> Any:
        if faults:
            raise faults.pop()
        return {"id": job_id}

    reports = built_by(store, build, time.monotonic)
    with pytest.raises(OSError, match="away"):
        reports.get(job)
    assert told(reports, job)[0] == {"id": job}


def test_no_report_is_kept_of_a_job_that_there_is_not(store: Store) -> None:
    with pytest.raises(NotFound, match="no job 'j_none'"):
        reports_of(store).get("j_none")


def test_a_report_tells_its_age(api: TestClient, store: Store) -> None:
    job = a_job(store)
    for kind in ("application/json", "text/html"):
        answer = api.get(f"/v1/jobs/{job}/report", headers={"Accept": kind})
        assert (answer.status_code, answer.headers["Age"]) == (200, "0")
