"""The page of the machinery: who works on what, what waits, what failed, and which server is away."""

from collections.abc import Callable
from functools import partial

import httpx
import pytest
from fastapi import FastAPI
from playwright.sync_api import expect
from redis import Redis

from gnomon_service.api.app import create_app
from gnomon_service.settings import Settings
from gnomon_workers.queue import enqueue_shards
from gnomon_workers.store.store import Store
from tests.web.conftest import Site, Visit
from tests.web.jobs_under_way import end_trials, planned

Open = Callable[..., Visit]


def test_who_works_on_what_and_what_waits(site: Site, visit: Open, redis: Redis) -> None:
    job = planned(site.store, name="under way")
    end_trials(site.store, job, 10)
    site.store.record_heartbeat("here.1", host="here", pid=7, state="busy", shard=f"{job.id}/1")
    enqueue_shards(redis, site.store.job(job.id), [1])
    page = visit(site, script=False).open("/ui/workers")
    expect(page.locator(".lead")).to_have_text("Healthy: 1 worker, 1 busy; 1 message waiting.")
    row = page.locator("#worker-1")
    expect(row).to_contain_text("under way shard 1")
    expect(row.get_by_role("link")).to_have_attribute("href", f"/ui/jobs/{job.id}")
    expect(page.get_by_role("row", name="gnomon.default.normal 1")).to_be_visible()
    assert httpx.get(f"{site.url}/ui/workers.json").json()["queues"][0]["age_s"] < 60


def test_open_trials_without_a_worker_are_a_problem(site: Site, visit: Open) -> None:
    planned(site.store)
    page = visit(site).open("/ui/workers")
    expect(page.locator(".lead")).to_have_text(
        "✕ No worker answers, and 80 trials of open jobs wait for one."
    )


def test_causes_are_counted_and_linked_to_their_trials(site: Site, visit: Open) -> None:
    job = planned(site.store, name="unlucky", models=[{"id": "openai/gpt-4o"}])
    end_trials(site.store, job, 6, cause="provider:server_error", error="HTTP 503: busy")
    end_trials(site.store, job, 4)
    site.store.stop_model(job.id, "openai/gpt-4o", cause="quota", error="HTTP 429: no credit left")
    page = visit(site).open("/ui/workers")
    expect(page.locator("#stopped-1")).to_contain_text(
        "openai/gpt-4o, the account's quota is used up: “HTTP 429: no"
    )
    row = page.locator("tr", has_text="the provider failed")
    expect(row).to_contain_text("“HTTP 503: busy”")
    expect(row.locator("td.n")).to_have_text("6 trials")
    trial = row.get_by_role("link", name="one of them").get_attribute("href")
    assert trial is not None
    stored = site.store.trial(trial.rpartition("/")[2])
    assert stored.row is not None
    assert stored.row.stop_reason == "provider:server_error"


def test_a_queue_that_is_away_is_said(
    open_site: Callable[..., Site], visit: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Redis(host="127.0.0.1", port=9) as nobody:
        monkeypatch.setattr("tests.web.conftest.create_app", partial(_with_queue, nobody))
        page = visit(open_site()).open("/ui/workers")
    expect(page.locator(".lead")).to_contain_text("Redis does not answer (ConnectionError)")
    expect(page.get_by_text("✓ answers")).to_have_count(1)


def _with_queue(queue: Redis, settings: Settings, *, store: Store, redis: Redis) -> FastAPI:
    return create_app(settings, store=store, redis=queue)
