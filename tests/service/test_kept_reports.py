"""A job's report is built once for all who ask, again when rows have come, and not all the time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.errors import NotFound
from gnomon.outcome import Outcome
from gnomon.sample import SampleRef
from gnomon.spec import JobSpec
from service.kept_reports import PATIENCE, KeptReports
from workers.store import Store
from workers.store.ending import missing_row

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


def a_job(store: Store) -> str:
    refs = [SampleRef(sample_id=f"s{i}", task="T", cell="T", cluster=f"s{i}") for i in range(4)]
    return store.create_job(JobSpec.model_validate(SPEC), refs).id


def finish(store: Store, job_id: str, count: int) -> None:
    leases = store.lease(job_id, 0, worker="w", ttl_s=60, limit=count) or store.lease(
        job_id, 1, worker="w", ttl_s=60, limit=count
    )
    rows = [
        replace(
            missing_row(lease.trial, benchmark="worlds", stop_reason="answered", attempt=1),
            outcome=Outcome.SCORED,
            score=1.0,
        )
        for lease in leases
    ]
    store.finish([(lease, row, {}) for lease, row in zip(leases, rows, strict=True)])


def test_nothing_is_built_again_until_a_row_has_come(store: Store) -> None:
    shop, job = Workshop(), a_job(store)
    reports = KeptReports(store, shop.build, clock=shop.clock)
    seen = [reports.get(job)[0] for _ in range(3)]
    assert (seen, shop.built) == ([{"rows": 0}] * 3, 1)
    finish(store, job, 1)
    assert (reports.get(job)[0], shop.built) == ({"rows": 1}, 2)


def test_a_slow_report_of_a_running_job_may_be_old_and_says_so(store: Store) -> None:
    shop, job = Workshop(takes_s=2.0), a_job(store)
    reports = KeptReports(store, shop.build, clock=shop.clock)
    finish(store, job, 1)
    reports.get(job)
    finish(store, job, 1)
    shop.now_s += 5.0
    assert reports.get(job) == ({"rows": 1}, 5.0)
    shop.now_s += 2.0 * PATIENCE
    assert reports.get(job) == ({"rows": 2}, 0.0)


def test_a_job_that_has_ended_is_reported_in_full_at_once(store: Store) -> None:
    shop, job = Workshop(takes_s=2.0), a_job(store)
    reports = KeptReports(store, shop.build, clock=shop.clock)
    finish(store, job, 1)
    reports.get(job)
    finish(store, job, 1)
    store.cancel(job)
    assert reports.get(job)[0] == {"rows": 2}
    finish_before = shop.built
    shop.now_s += 1_000.0
    assert reports.get(job)[0] == {"rows": 2}
    assert shop.built == finish_before


def test_who_asks_while_a_report_is_built_waits_for_it(store: Store) -> None:
    job, first, go_on = a_job(store), threading.Event(), threading.Event()
    built: list[str] = []

    def build(_: Store, job_id: str) -> Any:
        built.append(job_id)
        first.set()
        assert go_on.wait(30)
        return {}

    reports = KeptReports(store, build)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(reports.get, job) for _ in range(4)]
        assert first.wait(30)
        go_on.set()
        assert [one.result(30)[0] for one in asked] == [{}] * 4
    assert built == [job]


def test_a_failed_build_is_tried_again(store: Store) -> None:
    job, faults = a_job(store), [OSError("away")]

    def build(_: Store, job_id: str) -> Any:
        if faults:
            raise faults.pop()
        return {"id": job_id}

    reports = KeptReports(store, build)
    with pytest.raises(OSError, match="away"):
        reports.get(job)
    assert reports.get(job)[0] == {"id": job}


def test_no_report_is_kept_of_a_job_that_there_is_not(store: Store) -> None:
    with pytest.raises(NotFound, match="no job 'j_none'"):
        KeptReports(store, Workshop().build).get("j_none")


def test_a_report_tells_its_age(api: TestClient, store: Store) -> None:
    job = a_job(store)
    for kind in ("application/json", "text/html"):
        answer = api.get(f"/v1/jobs/{job}/report", headers={"Accept": kind})
        assert (answer.status_code, answer.headers["Age"]) == (200, "0")
