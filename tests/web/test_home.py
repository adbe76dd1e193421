"""The list of jobs: what it says, that it stays still while it is redrawn, and who may change something."""

import re
import threading
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Route, expect

import gnomon_service.reports
from tests.web.conftest import PHONE, SPEC, Site, Visit
from tests.web.every_page import PAGES
from tests.web.jobs_under_way import end_trials, planned, worker_on
from tests.web.planted import plant, scored

KEY = "a-key-of-16-chars-and-more"
ELSEWHERE = {"Origin": "https://elsewhere.example"}
Open = Callable[..., Visit]


def test_a_verdict_that_surprises_says_why(site: Site, visit: Open) -> None:
    row = visit(site).open("/").locator(f"#{site.job_id}")
    expect(row).to_contain_text("Undecided", timeout=30_000)
    expect(row).to_contain_text("The interval holds zero")
    expect(row.locator("svg.interval")).to_have_attribute("aria-label", re.compile("points, 95 % interval"))


def test_on_a_phone_a_row_has_its_numbers_beside_its_chart(site: Site, visit: Open) -> None:
    row = visit(site, size=PHONE).open("/").locator(f"#{site.job_id}")
    expect(row).to_contain_text("Undecided", timeout=30_000)
    numbers, chart = (row.locator(where).bounding_box() for where in (".result .nowrap", "svg.interval"))
    assert numbers is not None
    assert chart is not None
    assert numbers["x"] + numbers["width"] <= chart["x"]


def test_a_list_waits_for_no_report(open_site: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> None:
    is_built = threading.Event()

    def build(*_: object) -> None:
        is_built.wait(60)
        raise ValueError("no report")

    monkeypatch.setattr(gnomon_service.reports, "report_of", build)
    site = open_site()
    new = plant(site, {"s": "x"}, lambda _, row: scored(row, 1.0, "A"))
    try:
        listed = httpx.get(f"{site.url}/index.json", timeout=60).json()
    finally:
        is_built.set()
    assert [job["id"] for job in listed["jobs"] if job["badge"] == "due"] == [new]


def test_a_running_job_is_redrawn_and_nothing_moves(site: Site, visit: Open) -> None:
    job = planned(site.store, name="under way")
    for number in range(30):
        planned(site.store, 1, name=f"waits {number}")
    end_trials(site.store, job, 4, cause="provider:server_error", error="HTTP 503: busy")
    end_trials(site.store, job, 4, cause="provider:timeout", error="no reply within 60 s")
    page = visit(site).open("/")
    row = page.locator(f"#{job.id}")
    expect(row).to_contain_text("8 of 80 trials")
    row.locator("summary").click()
    page.locator(f"#pick-{job.id}").check()
    link = row.locator("th a")
    link.focus()
    page.evaluate("scrollTo(0, 500)")
    place = f"document.getElementById('{job.id}').getBoundingClientRect().top"
    order = "[...document.querySelectorAll('tr[data-row]')].map(row => row.id)"
    before, top = page.evaluate(order), page.evaluate(place)
    for done in (20, 40, 60):
        end_trials(site.store, job, 20 if done > 20 else 12)
        expect(row).to_contain_text(f"{done} of 80 trials")
    end_trials(site.store, job, 20)
    planned(site.store, 1, name="came later")
    expect(row).not_to_contain_text("of 80 trials ·")
    expect(page.locator("#news")).to_contain_text("1 new job, show")
    assert page.evaluate(place) == pytest.approx(top, abs=1)  # the browser holds on to what is looked at
    assert page.evaluate("document.activeElement.id") == f"open-{job.id}"
    assert page.evaluate(order) == before
    assert row.locator("details").get_attribute("open") is not None
    expect(page.locator(f"#pick-{job.id}")).to_be_checked()


def test_a_real_job_runs_to_its_verdict_under_the_page(
    open_site: Callable[..., Site], visit: Open, redis_url: str
) -> None:
    site = open_site(is_empty=True)
    page = visit(site).open("/")
    expect(page.locator("#empty")).to_contain_text("No worker is running yet")
    posted = httpx.post(f"{site.url}/v1/jobs", json=SPEC, timeout=60).json()
    page.reload()
    row = page.locator(f"#{posted['id']}")
    expect(row).to_contain_text("0 of 56 trials · waits for a worker")
    with worker_on(site, redis_url):
        expect(row).to_contain_text("Undecided", timeout=90_000)
    expect(row).to_contain_text("28 in 4")


def test_an_empty_list_starts_the_demonstration(open_site: Callable[..., Site], visit: Open) -> None:
    site = open_site(is_empty=True)
    page = visit(site, script=False).open("/")
    expect(page.locator("#demo-command")).to_have_text("gnomon demo")
    page.get_by_role("button", name="Start the demo").click()
    job = site.store.jobs().items[0]
    assert (job.name, job.counts.planned, job.status) == ("demo", 560, "queued")
    assert page.url.endswith(f"/#{job.id}")
    expect(page.locator(f"#{job.id}")).to_contain_text("waits for a worker")


@pytest.mark.parametrize("script", [True, False])
def test_filters_search_and_order_are_links_and_a_form(script: bool, site: Site, visit: Open) -> None:
    given_up = planned(site.store, name="given up", models=[{"id": "openai/gpt-4o"}])
    site.store.cancel(given_up.id)
    waiting = planned(site.store, name="a waiting one")
    page = visit(site, script=script).open("/")
    names = page.locator("tr[data-row] th a")
    expect(names).to_have_text(["a waiting one", "given up", SPEC["name"]])
    page.get_by_role("link", name="Stopped 1").click()
    expect(names).to_have_text(["given up"])
    page.go_back()
    expect(names).to_have_count(3)
    page.locator("thead").get_by_role("link", name="Job").click()
    expect(page.locator("thead th[aria-sort]")).to_contain_text("Job")
    expect(names).to_have_text(["a waiting one", "given up", SPEC["name"]])
    page.locator("#q").fill("GPT-4o")
    page.locator("#q").press("Enter")
    expect(names).to_have_text(["given up"])
    assert "q=GPT-4o" in page.url
    assert waiting.id not in page.content()


def test_news_does_not_overtake_a_click_that_still_loads(site: Site, visit: Open) -> None:
    given_up = planned(site.store, name="given up")
    site.store.cancel(given_up.id)
    page = visit(site).open("/")
    held: list[Route] = []
    page.route("**/?show=stopped*", lambda route: held.append(route))
    page.get_by_role("link", name="Stopped 1").click()
    page.evaluate("document.getElementById('main').dataset.poll = '0.1'")
    page.wait_for_timeout(1500)
    held[0].continue_()
    expect(page.locator("tr[data-row] th a")).to_have_text(["given up"])


def test_search_finds_names_models_and_benchmarks_and_no_other_word_of_a_spec(site: Site) -> None:
    planned(site.store, name="100%_sure", models=[{"id": "openai/gpt-4o", "name": "four"}])

    def names(words: str) -> list[str]:
        listed = httpx.get(f"{site.url}/index.json", params={"q": words}).json()["jobs"]
        return [job["name"] for job in listed]

    assert names("four") == names("openai worlds") == names("0%_s") == ["100%_sure"]
    assert names("max_turns") == names("%%") == []
    assert names("small WORLDS") == [SPEC["name"]]


def test_older_jobs_are_on_the_next_page_though_new_ones_come(site: Site, visit: Open) -> None:
    for number in range(60):
        site.store.cancel(planned(site.store, 1, name=f"job {number}").id)
    page = visit(site, script=False).open("/")
    first = page.locator("tr[data-row] th a").all_inner_texts()
    planned(site.store, 1, name="came meanwhile")
    page.get_by_role("link", name="Older jobs").click()
    second = page.locator("tr[data-row] th a").all_inner_texts()
    assert first == [f"job {number}" for number in range(59, 9, -1)]
    assert second == [*(f"job {number}" for number in range(9, -1, -1)), SPEC["name"]]


def test_a_job_whose_key_was_refused_is_named_and_resumed(site: Site, visit: Open) -> None:
    job = planned(site.store, name="refused", models=[{"id": "openai/gpt-4o"}])
    end_trials(site.store, job, 30)
    site.store.stop_model(job.id, "openai/gpt-4o", cause="auth", error="HTTP 401: Incorrect API key.")
    page = visit(site).open("/")
    strip = page.locator("#needs")
    expect(strip).to_contain_text("1 job needs you")
    expect(strip).to_contain_text("a key was refused, “HTTP 401: Incorrect API key”")
    expect(page.locator(f"#{job.id}")).to_contain_text("30 of 80 trials have a result")
    strip.get_by_role("button", name="Resume").click()
    page.wait_for_url(f"{site.url}/")
    resumed = site.store.job(job.id)
    assert (resumed.status, resumed.counts.done) == ("queued", 30)


def test_a_running_job_is_cancelled_by_its_button(site: Site, visit: Open) -> None:
    job = planned(site.store, name="too long")
    page = visit(site, script=False, size=PHONE).open("/?show=running")
    page.get_by_role("button", name="Cancel too long").click()
    assert page.url == f"{site.url}/?show=running"
    assert site.store.job(job.id).status == "cancelled"


@pytest.mark.parametrize("keys", ["", KEY])
@pytest.mark.parametrize("path", ["/ui/demo", "/ui/jobs", "/ui/jobs/{}/cancel", "/ui/jobs/{}/resume"])
def test_a_post_from_another_site_changes_nothing(
    path: str, keys: str, open_site: Callable[..., Site]
) -> None:
    site = open_site(GNOMON_API_KEYS=keys)
    job = planned(site.store)
    cookies = {"gnomon_key": KEY} if keys else {}
    with httpx.Client(base_url=site.url, cookies=cookies) as client:
        refused = client.post(path.format(job.id), headers=ELSEWHERE, data={"yaml": "", "name": "x"})
    assert refused.status_code == 403
    assert [each.status for each in site.store.jobs().items] == ["queued", "completed"]


def test_a_key_is_typed_once_and_no_script_can_read_it(open_site: Callable[..., Site], visit: Open) -> None:
    site = open_site(GNOMON_API_KEYS=KEY)
    job = planned(site.store, name="guarded")
    page = visit(site).open("/")
    page.get_by_label("API key").fill(KEY)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    assert page.evaluate("document.cookie") == ""
    cookie = next(cookie for cookie in page.context.cookies() if cookie["name"] == "gnomon_key")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    page.locator(f"#{job.id}").get_by_role("button", name="Cancel").click()
    expect(page.locator(f"#{job.id}")).to_contain_text("Cancelled")


# What a page offers that changes something: a form that is posted, and links to pages of one such form.
OFFER = re.compile(r'method="post" action="/(?!ui/sign-out)|href="/ui/(new|jobs/\w+/delete)')
OFFERING = ("home", "new-job", "job", "delete", "trace", "trips", "review", "review item", "tool", "scene")


def test_a_key_that_may_only_read_is_offered_nothing_that_it_may_not_do(
    open_site: Callable[..., Site],
) -> None:
    site = open_site(GNOMON_API_KEYS=f"read {KEY},run {KEY}-again")

    def offers(path: str, key: str) -> bool:
        as_page = {"headers": {"Accept": "text/html"}, "timeout": 60}
        page = httpx.get(site.url + path, cookies={"gnomon_key": key}, **as_page)
        assert page.status_code == 200
        return OFFER.search(page.text) is not None

    under_way = f"/ui/jobs/{planned(site.store).id}"
    assert [
        path for path in (*(PAGES[name](site) for name in OFFERING), under_way) if offers(path, KEY)
    ] == []
    assert all(offers(path, f"{KEY}-again") for path in ("/", f"/ui/jobs/{site.job_id}", under_way))


def test_a_name_that_looks_like_markup_stays_text(site: Site, visit: Open) -> None:
    name = "<script>document.title='owned'</script><b>&"
    job = planned(site.store, name=name)
    shown = visit(site)
    page = shown.open("/")
    expect(page.locator(f"#{job.id} th a")).to_have_text(name)
    assert page.title() == "Jobs – Gnomon"
    assert shown.errors == []


def test_two_ticked_jobs_are_compared(site: Site) -> None:
    ids = [site.job_id, planned(site.store).id]
    answer = httpx.get(f"{site.url}/ui/picked", params={"job": ids})
    assert answer.headers["location"] == f"/ui/compare?jobs={','.join(ids)}"
