"""A list of jobs shows what each found without waiting for a report, and reports outlive the process."""

import threading
from typing import Any

import pytest
from starlette.testclient import TestClient

from service import report_cache
from service.headlines import Headlines
from service.report_cache import ReportCache
from service.reports import report_of
from tests.service.test_trial_indexes import a_job, finish
from tests.workers.conftest import wait_until
from workers.store import Store


class Counting:
    """Builds real reports and counts them."""

    def __init__(self) -> None:
        self.built: list[str] = []

    def __call__(self, store: Store, job_id: str) -> Any:
        self.built.append(job_id)
        return report_of(store, job_id)


def ended(store: Store) -> str:
    job = a_job(store)
    finish(store, job, 8)
    assert store.job(job).status == "completed"
    return job


def test_the_report_of_a_job_that_has_ended_outlives_the_process(store: Store) -> None:
    job, build = ended(store), Counting()
    first, _ = ReportCache(store, build).get(job)
    second, age_s = ReportCache(store, build).get(job)
    assert (second, age_s, build.built) == (first, 0.0, [job])


def test_the_report_of_a_running_job_is_not_kept(store: Store) -> None:
    job, build = a_job(store), Counting()
    finish(store, job, 2)
    for _ in range(2):
        ReportCache(store, build).get(job)
    assert build.built == [job, job]


def test_a_kept_report_is_built_again_by_other_code(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job, build = ended(store), Counting()
    ReportCache(store, build).get(job)
    monkeypatch.setattr(report_cache, "_code_version", lambda: "other")
    ReportCache(store, build).get(job)
    assert build.built == [job, job]


def test_headlines_are_there_once_they_were_built(store: Store) -> None:
    job, running, build = ended(store), a_job(store), Counting()
    headlines = Headlines(store, ReportCache(store, build))
    assert headlines.of([job, running, "j_none"]) == {}
    wait_until(lambda: job in headlines.of([job]))
    headlines.close()
    headline = Headlines(store, ReportCache(store, build)).of([job, running])[job]
    report = report_of(store, job)
    [finding] = headline["findings"]
    assert finding["verdict_text"] == report["contrasts"][0]["verdict_text"]
    assert [(arm["arm"], arm["mean"]) for arm in headline["arms"]] == [("raw", 1.0), ("tools", 1.0)]
    assert headline["benchmark"] == "worlds"
    assert build.built == [job]


def test_what_else_its_pages_need_is_made_ahead(store: Store) -> None:
    job, prepared = ended(store), list[str]()
    headlines = Headlines(store, ReportCache(store, Counting()), prepare=prepared.append)
    headlines.of([job])
    wait_until(lambda: prepared == [job])
    headlines.close()


def test_a_list_waits_for_no_report(store: Store) -> None:
    jobs, begun, go_on = [ended(store), ended(store)], threading.Event(), threading.Event()
    running: list[int] = []

    def build(from_store: Store, job_id: str) -> Any:
        running.append(threading.active_count())
        begun.set()
        assert go_on.wait(30)
        return report_of(from_store, job_id)

    headlines = Headlines(store, ReportCache(store, build))
    assert headlines.of(jobs) == {}
    assert begun.wait(30)
    assert headlines.of(jobs) == {}
    assert len(running) == 1, "one at a time"
    go_on.set()
    wait_until(lambda: headlines.of(jobs).keys() == set(jobs))
    headlines.close()


def test_a_job_without_a_report_is_tried_once(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    broken, sound, built = ended(store), ended(store), list[str]()

    def build(from_store: Store, job_id: str) -> Any:
        built.append(job_id)
        if job_id == broken:
            raise RuntimeError("no such benchmark")
        return report_of(from_store, job_id)

    headlines = Headlines(store, ReportCache(store, build))
    headlines.of([broken, sound])
    wait_until(lambda: headlines.of([broken, sound]).keys() == {sound})
    headlines.of([broken])
    headlines.close()
    assert built == [broken, sound]
    assert "RuntimeError: no such benchmark" in caplog.text


def test_an_unchanged_report_is_not_sent_twice(api: TestClient, store: Store) -> None:
    job = a_job(store)
    finish(store, job, 2)
    path = f"/v1/jobs/{job}/report"
    for kind in ("application/json", "text/html"):
        headers = {"Accept": kind}
        tag = api.get(path, headers=headers).headers["ETag"]
        again = api.get(path, headers={**headers, "If-None-Match": tag})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    finish(store, job, 1)
    assert api.get(path, headers={**headers, "If-None-Match": tag}).status_code == 200
