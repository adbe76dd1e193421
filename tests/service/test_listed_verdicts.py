"""A list of jobs shows what each found without waiting for a report, and reports outlive the process."""

import threading
import time
from collections.abc import Iterable
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.score import Outcome
from gnomon_service import derived_kinds
from gnomon_service.derived import Derived
from gnomon_service.derived_kinds import JobVerdict, verdicts_of
from gnomon_service.reports import report_of
from gnomon_workers.store import Store
from tests.service.test_kept_reports import built_by
from tests.service.test_trial_indexes import a_job, finish
from tests.workers.conftest import wait_until


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


def reports_by(store: Store, build: Any) -> Derived[Any]:
    return built_by(store, build, time.monotonic)


def listed(verdicts: Derived[JobVerdict | None], jobs: Iterable[str]) -> dict[str, JobVerdict | None]:
    return verdicts.listed({job: verdicts.kind.stamp(job) for job in jobs})


def test_the_report_of_a_job_that_has_ended_outlives_the_process(store: Store) -> None:
    job, build = ended(store), Counting()
    first, second = (reports_by(store, build).get(job) for _ in range(2))
    assert (second.value, second.age_s, build.built) == (first.value, 0.0, [job])


def test_the_report_of_a_running_job_is_not_kept(store: Store) -> None:
    job, build = a_job(store), Counting()
    finish(store, job, 2)
    for _ in range(2):
        reports_by(store, build).get(job)
    assert build.built == [job, job]


def test_a_kept_report_is_built_again_by_other_code(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job, build = ended(store), Counting()
    reports_by(store, build).get(job)
    monkeypatch.setattr(derived_kinds, "code_version", lambda: "other")
    reports_by(store, build).get(job)
    assert build.built == [job, job]


def test_verdicts_are_there_once_they_were_made(store: Store) -> None:
    job, build = ended(store), Counting()
    verdicts = verdicts_of(store, reports_by(store, build))
    assert listed(verdicts, [job]) == {}
    wait_until(lambda: job in listed(verdicts, [job]))
    verdicts.close()
    verdict = listed(verdicts_of(store, reports_by(store, build)), [job])[job]
    assert verdict is not None
    contrast = report_of(store, job)["contrasts"][0]
    assert (verdict.word, verdict.baseline, verdict.variant) == (contrast["verdict"], "raw", "tools")
    assert (verdict.diff, verdict.samples) == (contrast["diff"], contrast["n"])
    assert build.built == [job]


def test_a_verdict_of_other_results_is_made_again(store: Store) -> None:
    job, build = a_job(store), Counting()
    finish(store, job, 7)
    finish(store, job, 1, Outcome.INFRA_MISSING)
    verdicts = verdicts_of(store, reports_by(store, build))
    verdicts.get(job)
    store.resume(job)
    finish(store, job, 1)
    assert listed(verdicts, [job]) == {}
    wait_until(lambda: job in listed(verdicts, [job]))
    verdicts.close()
    assert build.built == [job, job]


def test_a_list_waits_for_no_report(store: Store) -> None:
    jobs, begun, go_on = [ended(store), ended(store)], threading.Event(), threading.Event()
    running: list[int] = []

    def build(from_store: Store, job_id: str) -> Any:
        running.append(threading.active_count())
        begun.set()
        assert go_on.wait(30)
        return report_of(from_store, job_id)

    verdicts = verdicts_of(store, reports_by(store, build))
    assert listed(verdicts, jobs) == {}
    assert begun.wait(30)
    assert listed(verdicts, jobs) == {}
    assert len(running) == 1, "one at a time"
    go_on.set()
    wait_until(lambda: listed(verdicts, jobs).keys() == set(jobs))
    verdicts.close()


def test_a_job_without_a_report_is_tried_once(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    broken, sound, built = ended(store), ended(store), list[str]()

    def build(from_store: Store, job_id: str) -> Any:
        built.append(job_id)
        if job_id == broken:
            raise RuntimeError("no such benchmark")
        return report_of(from_store, job_id)

    verdicts = verdicts_of(store, reports_by(store, build))
    listed(verdicts, [broken, sound])
    wait_until(lambda: listed(verdicts, [broken, sound]).keys() == {sound})
    listed(verdicts, [broken])
    verdicts.close()
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
