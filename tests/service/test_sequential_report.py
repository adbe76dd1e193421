"""What a report says of a job that may stop early."""

from pathlib import Path

import pytest

from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.terminal import summary_text
from gnomon_service.api.serializers import job_view
from gnomon_service.reports import report_of
from gnomon_service.web.job_rows import job_row
from gnomon_workers.store import JobRecord, Store
from tests.workers.conftest import TRACE, Clock, make_row
from tests.workers.test_sequential_jobs import answer, begin, looker


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path}/gnomon.db", clock=Clock())


@pytest.fixture
def stopped(store: Store) -> JobRecord:
    job = begin(store)
    answer(store, job, 16, raw=0.0, tools=1.0)
    in_hand = store.lease(job.id, 16, worker="slow", ttl_s=60, limit=3)
    looker(store, job).look()
    store.release(in_hand)
    return job


def test_the_verdict_rests_on_the_look_and_says_what_was_not_run(store: Store, stopped: JobRecord) -> None:
    report = report_of(store, stopped.id)
    contrast = report["contrasts"][0]
    look = store.looks(stopped.id)[-1]["contrasts"][0]
    assert contrast["verdict"] == "helps"
    assert contrast["interval_method"] == "repeated interval at look 3 of 8"
    assert contrast["test"] == "cluster sign-flip, look 3 of 8"
    assert (contrast["ci95"], contrast["p_adjusted"]) == (look["ci95"], look["p_adjusted"])
    words = "Decided early, after 30 of 60 samples in 15 of 30 clusters; 28 samples were not run."
    assert words in contrast["verdict_text"]
    trials = report["denominators"]["trials"]
    assert (trials["pending"], trials["infra_missing"], trials["not_run"]) == (0, 0, 56)
    assert "56 not run (stopped early)" in summary_text(report)
    assert "56 not run (stopped early)" in render_html(report)
    assert "stopped here" in render_markdown(report)


def test_a_sample_that_has_ended_beyond_the_first_clusters_does_not_count(
    store: Store, stopped: JobRecord
) -> None:
    before = report_of(store, stopped.id)["contrasts"][0]
    store.resume(stopped.id)
    last = store.lease(stopped.id, 29, worker="w", ttl_s=60)
    store.finish([(lease, make_row(lease, score=0.0), TRACE) for lease in last])
    report = report_of(store, stopped.id)
    assert report["denominators"]["trials"]["finished"] == 68
    after = report["contrasts"][0]
    assert (before["n"], before["ci95"]) == (after["n"], after["ci95"])


def test_what_ran_after_the_decision_is_said(store: Store, stopped: JobRecord) -> None:
    store.resume(stopped.id)
    answer(store, stopped, 30, raw=0.0, tools=1.0)
    report = report_of(store, stopped.id)
    assert report["job"]["status"] == "completed"
    assert "more was run after that" in report["contrasts"][0]["verdict_text"]
    assert report["contrasts"][0]["n"] == 60
    sequential = report["sequential"]
    assert sequential is not None
    assert (sequential["trials_not_run"], sequential["trials_after"]) == (0, 56)
    assert report["denominators"]["trials"].get("not_run") == 0


def test_an_undecided_job_is_judged_by_the_last_look_at_its_end(store: Store) -> None:
    job = begin(store)
    answer(store, job, 30, raw=0.5, tools=0.5)
    looker(store, job).look()
    report = report_of(store, job.id)
    contrast = report["contrasts"][0]
    assert contrast["verdict"] == "undecided"
    assert contrast["interval_method"] == "repeated interval at look 8 of 8"
    low, high = contrast["ci95"] or (0.0, 0.0)
    assert low < -0.05 < 0.05 < high
    assert "not stopped early" in render_markdown(report)


def test_before_the_first_look_nothing_is_said_but_when_it_comes(store: Store) -> None:
    job = begin(store)
    answer(store, job, 5, raw=0.0, tools=1.0)
    contrast = report_of(store, job.id)["contrasts"][0]
    assert (contrast["verdict"], contrast["diff"], contrast["ci95"]) == ("undecided", None, None)
    assert contrast["reasons"] == ["the first look comes after 9 of 30 clusters"]
    assert contrast["verdict_text"].endswith(": the first look comes after 9 of 30 clusters.")


def test_a_job_stops_where_more_would_hardly_decide_it_and_says_so(store: Store) -> None:
    job = begin(store)
    for shard in range(18):
        scores = {"raw": float(shard % 2), "tools": float((shard + 1) % 2)}
        leases = store.lease(job.id, shard, worker="w", ttl_s=60)
        store.finish([(lease, make_row(lease, score=scores[lease.trial.arm]), TRACE) for lease in leases])
    looker(store, job).look()
    assert store.job(job.id).status == "completed"
    report = report_of(store, job.id)
    contrast = report["contrasts"][0]
    assert contrast["verdict"] == "undecided"
    words = "Stopped early, as more would hardly decide it, after 36 of 60 samples in 18 of 30 clusters"
    assert words in contrast["verdict_text"]
    assert "Stopped, as more would hardly decide it, after 36 of 60" in render_markdown(report)


def test_other_jobs_have_no_looks(store: Store) -> None:
    job = begin(store, analysis={"primary": ["raw", "tools"]})
    assert report_of(store, job.id)["sequential"] is None


def test_lists_and_the_api_say_that_it_stopped_early(store: Store, stopped: JobRecord) -> None:
    job = store.job(stopped.id)
    view = job_view(job)
    assert (view["status"], view["stopped_early"], view["not_run"]) == ("completed", True, 56)
    row = job_row(job, now_s=0.0, verdict=None, is_verdict_due=False, per_second=None, missing=())
    assert row["stopped"] == "Stopped early: 56 trials not run."
    assert (row["problem"], row["missing"], row["can_resume"]) == ("", 0, True)
    resumed = store.resume(stopped.id)
    assert (resumed.not_run, job_view(resumed)["stopped_early"]) == (0, True)
