"""The page of a job: its verdict with links, its progress while it runs, its files and its actions."""

import json
from collections.abc import Callable
from dataclasses import replace

import httpx
from playwright.sync_api import expect
from redis import Redis

from gnomon.core.row import Row
from gnomon.trials.trial_plan import Trial
from gnomon_service import jobs
from gnomon_service.settings import read_settings
from tests.web.conftest import SPEC, Site, Visit
from tests.web.jobs_under_way import worker_on
from tests.web.planted import fetch, plant, scored

HTML = {"Accept": "text/html"}


def test_the_counts_lead_to_the_samples_behind_them(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/jobs/{site.job_id}")
    report = fetch(f"{site.url}/v1/jobs/{site.job_id}/report").json()
    over_all = next(contrast for contrast in report["contrasts"] if contrast["scope"] == "all")
    assert over_all["verdict_text"] in page.locator("#verdict").inner_text()
    link = page.locator(".flips a", has_text="fixed")
    assert link.inner_text() == f"{over_all['rescued']} fixed"
    link.click()
    expect(page.locator("tr[data-row]")).to_have_count(over_all["rescued"])


def test_each_subset_leads_to_its_trials(site: Site) -> None:
    view = fetch(f"{site.url}/ui/jobs/{site.job_id}.json").json()
    assert len(view["subsets"]) == 14
    for subset in view["subsets"]:
        path, _, query = subset["href"].partition("?")
        listed = fetch(f"{site.url}{path}.json?{query}").json()
        assert {row["cell"] for row in listed["rows"]} == {subset["subset"]}
        assert listed["total"] == subset["samples"]


def test_the_reports_sections_are_on_the_page(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/jobs/{site.job_id}")
    links = page.locator(".toc a[href^='#']:not([href='#where'])")
    assert links.count() == page.locator("details.part").count() <= 6
    for link in links.all():
        link.click()
    for name in ("tools", "cost", "integrity", "plan"):
        expect(page.locator(f"#{name}")).to_be_visible()
    assert "project_track" in page.locator("#tools").inner_text()


def test_the_export_menu_gives_files(site: Site) -> None:
    base = f"{site.url}/ui/jobs/{site.job_id}"
    report = fetch(f"{base}/report.json")
    assert report.json()["job"]["id"] == site.job_id
    assert "attachment" in report.headers["content-disposition"]
    assert fetch(f"{base}/report.html").text.startswith("<!doctype html>")
    rows = [json.loads(line) for line in fetch(f"{base}/rows.ndjson").text.splitlines()]
    assert len(rows) == 56
    assert len(fetch(f"{base}/rows.csv").text.splitlines()) >= 57


def _provider_gone(trial: Trial, row: Row) -> Row | None:
    if trial.arm == "raw":
        return scored(row, 1.0, "A")
    return replace(row, stop_reason="provider:auth", error="Your key <b>is</b> not valid.")


def test_what_failed_is_said_in_the_providers_words_and_can_be_resumed(site: Site) -> None:
    job = plant(site, {"s1": "x", "s2": "x"}, _provider_gone)
    page = fetch(f"{site.url}/ui/jobs/{job}", headers=HTML).text
    assert "Your key &lt;b&gt;is&lt;/b&gt; not valid." in page
    view = fetch(f"{site.url}/ui/jobs/{job}.json").json()
    assert [(line["cause"], line["trials"]) for line in view["failing"]] == [("provider:auth", 2)]
    assert "2 trials are missing" in view["to_do"]
    answer = httpx.post(f"{site.url}/ui/jobs/{job}/resume", headers={"Origin": site.url})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/ui/jobs/{job}")
    resumed = fetch(f"{site.url}/ui/jobs/{job}.json").json()
    assert (resumed["job"]["status"], resumed["findings"]) == ("queued", [])
    answer = httpx.post(f"{site.url}/ui/jobs/{job}/cancel", headers={"Origin": site.url})
    assert (answer.status_code, site.store.job(job).status) == (303, "cancelled")


def test_events_of_progress_alone_hold_no_rows(site: Site) -> None:
    text = fetch(f"{site.url}/v1/jobs/{site.job_id}/events?only=progress").text
    names = [line for line in text.splitlines() if line.startswith("event:")]
    assert names == ["event: progress", "event: done"]


def test_a_job_runs_to_its_end_before_the_readers_eyes(
    site: Site, redis: Redis, redis_url: str, visit: Callable[..., Visit]
) -> None:
    settings = read_settings({}, data_dir=site.folder)
    slow = {"id": "scripted", "options": {"replies": ["<answer>A</answer>"], "delay_s": 0.5}}
    draft = jobs.draft_from_request({**SPEC, "name": "live", "models": [slow], "concurrency": 8}, settings)
    job = jobs.submit(draft, store=site.store, redis=redis)
    shown = visit(site)
    page = shown.open(f"/ui/jobs/{job.id}")
    expect(page.locator("h1")).to_contain_text("Waiting")
    page.locator("#export summary").click()
    page.locator("#export a").first.focus()
    page.evaluate("window.isTheSamePage = true")
    page.evaluate("window.redraws = 0")
    page.evaluate("document.addEventListener('gnomon:morphed', () => { window.redraws += 1; })")
    with worker_on(site, redis_url):
        expect(page.locator("h1")).to_contain_text("Running", timeout=30_000)
        assert "looking early" in page.locator("#verdict").inner_text()
        assert page.locator(".finding-card").count() == 0
        expect(page.locator("h1")).to_contain_text("Completed", timeout=60_000)
    expect(page.locator(".finding-card")).to_have_count(1, timeout=15_000)
    assert page.locator("#export").get_attribute("open") is not None
    assert page.evaluate("document.activeElement.textContent") == "Report, HTML"
    assert page.evaluate("window.isTheSamePage") is True
    assert page.evaluate("window.redraws") > 2
    assert shown.errors == []
