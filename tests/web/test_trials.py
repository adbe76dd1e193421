"""The list of trials: its facets, its filters in the address, its keys, and texts of strangers."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from gnomon.core.row import Row
from gnomon.trials.trial_plan import Trial
from tests.web.conftest import PHONE, Site, Visit
from tests.web.planted import fetch, plant, scored

EVIL = "<script>document.title='hacked'</script><img src=x onerror=alert(1)>"


def view(site: Site, path: str) -> dict[str, object]:
    page, _, query = path.partition("?")
    return dict(fetch(f"{site.url}{page}.json?{query}").raise_for_status().json())


def mixed(trial: Trial, row: Row) -> Row | None:
    """Sample a is fixed, b regressed, c both wrong, d missing under tools, e never ran under tools."""
    right = {"a": "tools", "b": "raw"}.get(trial.ref.sample_id)
    if trial.ref.sample_id == "d" and trial.arm == "tools":
        return row
    if trial.ref.sample_id == "e" and trial.arm == "tools":
        return None
    return scored(row, float(trial.arm == right), f"{trial.arm} said so")


@pytest.fixture
def odd_job(site: Site) -> str:
    return plant(site, {"a": "one", "b": "one", "c": "two", "d": "two", "e": "two"}, mixed)


def test_facets_count_what_the_rows_say(site: Site) -> None:
    shown = view(site, f"/ui/jobs/{site.job_id}/trials?view=trials")
    rows = list(site.store.iter_rows(site.job_id))
    facets = {facet["name"]: facet for facet in shown["facets"]}  # type: ignore[attr-defined, index]
    for name, column in (("cell", "cell"), ("arm", "arm")):
        values = [*facets[name]["values"], *facets[name]["others"]]
        assert {value["value"]: value["n"] for value in values} == Counter(
            getattr(row, column) for row in rows
        )
    tools = [*facets["tool"]["values"], *facets["tool"]["others"]]
    assert {value["value"]: value["n"] for value in tools} == Counter(
        name for row in rows for name in row.tools_used
    )
    assert shown["total"] == len(rows) == 56


def test_a_facet_leaves_the_samples_it_names(site: Site, odd_job: str) -> None:
    ids = {
        changed: [
            row["sample_id"] for row in view(site, f"/ui/jobs/{odd_job}/trials?changed={changed}")["rows"]
        ]  # type: ignore[attr-defined]
        for changed in ("fixed", "regressed", "both_wrong", "not_comparable")
    }
    assert ids == {"fixed": ["a"], "regressed": ["b"], "both_wrong": ["c"], "not_comparable": ["d", "e"]}
    fixed = view(site, f"/ui/jobs/{odd_job}/trials?changed=fixed")["rows"][0]  # type: ignore[index]
    assert (fixed["difference"], fixed["variant"]["answer"]) == (1.0, "tools said so")


def test_every_sample_of_the_list_opens(site: Site, odd_job: str) -> None:
    rows = view(site, f"/ui/jobs/{odd_job}/trials")["rows"]
    assert len(rows) == 5  # type: ignore[arg-type]
    for row in rows:  # type: ignore[attr-defined]
        page = fetch(site.url + row["href"], headers={"Accept": "text/html"})
        assert page.status_code == 200
        for link in re.findall(r'href="(/ui/trials/t_[^"?]+)', page.text):
            assert fetch(site.url + link, headers={"Accept": "text/html"}).status_code == 200, link
    pending = view(site, f"/ui/jobs/{odd_job}/samples/e")
    states = [trial["state"] for arm in pending["groups"][0]["arms"] for trial in arm["trials"]]  # type: ignore[index]
    assert states == ["", "waiting"]


def test_unknown_values_become_chips_that_can_be_removed(
    site: Site, odd_job: str, visit: Callable[..., Visit]
) -> None:
    page = visit(site).open(f"/ui/jobs/{odd_job}/trials?arm=gone&changed=fixed&cell=one&baseline=nobody")
    assert "no arm “gone”" in page.locator(".empty").inner_text()
    assert page.locator(".chip.unknown").count() == 2
    page.locator(".chip.unknown", has_text="gone").click()
    page.wait_for_selector("tr[data-row]")
    assert page.locator("tr[data-row]").count() == 1
    assert "arm=" not in page.url
    assert "changed=fixed" in page.url


def test_back_brings_the_filter_back(site: Site, visit: Callable[..., Visit]) -> None:
    shown = visit(site)
    page = shown.open(f"/ui/jobs/{site.job_id}/trials")
    page.get_by_label(re.compile("both wrong")).check()
    page.wait_for_url("**changed=both_wrong**")
    page.locator(".chip", has_text="both wrong").wait_for()
    assert page.locator("tr[data-row]").count() == 2
    page.locator("tr[data-row] th a").first.click()
    page.wait_for_url("**/samples/**")
    page.go_back()
    page.locator(".chip", has_text="both wrong").wait_for()
    assert page.locator("tr[data-row]").count() == 2
    page.go_back()
    expect(page.locator("tr[data-row]")).to_have_count(28)
    assert "changed" not in page.url
    assert not page.get_by_label(re.compile("both wrong")).is_checked()
    assert shown.errors == []


def test_keys_move_open_and_walk_the_list(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/jobs/{site.job_id}/trials?changed=fixed")
    first, second, third = (page.locator("tr[data-row] th a").nth(n).inner_text() for n in range(3))
    for key in ("j", "j", "k", "j"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_url("**/samples/**")
    assert page.locator("h1").inner_text().startswith(second)
    page.wait_for_load_state()
    page.keyboard.press("]")
    expect(page.locator("h1")).to_contain_text(third)
    assert "3 of 24" in page.locator(".head .actions").inner_text()
    assert "changed=fixed" in page.url
    page.wait_for_load_state()
    page.keyboard.press("[")
    expect(page.locator("h1")).to_contain_text(second)
    page.wait_for_load_state()  # keys work from then on
    page.keyboard.press("[")
    expect(page.locator("h1")).to_contain_text(first)
    assert page.locator("[data-key='[']").count() == 0


def test_ticked_rows_are_compared(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/jobs/{site.job_id}/trials")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("c")
    page.wait_for_url("**/ui/compare/trials**")
    assert page.locator("h1").inner_text().startswith("raw and tools")


def test_a_trial_walks_the_list_too(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/jobs/{site.job_id}/trials?view=trials&arm=tools&sort=-calls")
    ids = [row.get_attribute("id") for row in page.locator("tr[data-row]").all()]
    page.locator("tr[data-row] th a").first.click()
    page.wait_for_url("**/ui/trials/**")
    assert page.url.split("/")[-1].partition("?")[0] == str(ids[0]).removeprefix("row-")
    page.keyboard.press("]")
    page.wait_for_url(f"**/{str(ids[1]).removeprefix('row-')}**")
    assert "sort=-calls" in page.url


def test_texts_of_strangers_stay_texts(site: Site, visit: Callable[..., Visit]) -> None:
    trace = {"messages": [{"role": "user", "content": EVIL}], "response": EVIL}
    job = plant(
        site,
        {EVIL: EVIL, "سؤال": "مجموعة", "b": "b"},
        lambda trial, row: (
            scored(row, 0.0, EVIL, flags=(EVIL,)) if trial.arm == "raw" else replace(row, error=EVIL)
        ),
        trace=trace,
    )
    shown = visit(site)
    for path in ("trials", "trials?view=trials", f"trials?arm={EVIL}", ""):
        page = shown.open(f"/ui/jobs/{job}/{path}".rstrip("/"))
        assert page.title().startswith(("Trials", "odd rows")), path
        assert page.locator("main script").count() == 0
        assert page.locator("main img[src=x]").count() == 0
    page = shown.open(f"/ui/jobs/{job}/trials")
    page.locator("tr[data-row] th a", has_text="script").click()
    page.wait_for_url("**/samples/**")
    assert EVIL in page.locator("h1").inner_text()
    assert page.title() != "hacked"
    assert page.locator("main script, main img[src=x]").count() == 0
    assert [error for error in shown.errors if "Content Security Policy" in error] == []


def test_right_to_left_and_very_long_texts_do_not_break_the_page(
    site: Site, visit: Callable[..., Visit]
) -> None:
    long = "سلام " * 200_000
    job = plant(
        site, {"ب" * 60: "مجموعة" * 20}, lambda trial, row: scored(row, 0.5, long), trace={"response": long}
    )
    shown = visit(site, size=PHONE)
    for path in ("trials", "trials?view=trials", "samples/" + "ب" * 60):
        page = shown.open(f"/ui/jobs/{job}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert len(page.content()) < 200_000, path


def test_a_row_has_two_lines_on_a_phone(site: Site, visit: Callable[..., Visit]) -> None:
    shown = visit(site, size=PHONE)
    for path in ("trials", "trials?view=trials"):
        page = shown.open(f"/ui/jobs/{site.job_id}/{path}")
        heights = page.evaluate("[...document.querySelectorAll('tr[data-row]')].map(row => row.offsetHeight)")
        assert max(heights) < 90, path


def test_pages_follow_each_other_and_a_foreign_cursor_is_said(site: Site) -> None:
    job = plant(site, {f"s{n:03}": "x" for n in range(150)}, lambda trial, row: scored(row, 1.0, "A"))
    first = view(site, f"/ui/jobs/{job}/trials")
    following = view(site, str(first["next"]))
    ids = [row["sample_id"] for part in (first, following) for row in part["rows"]]  # type: ignore[attr-defined]
    assert ids == [f"s{n:03}" for n in range(150)]
    assert following["next"] == ""
    assert following["first"]
    assert "no cursor" in str(view(site, f"/ui/jobs/{job}/trials?after=zzz")["problem"])


def test_the_files_hold_the_filters_rows(site: Site, odd_job: str) -> None:
    lines = fetch(f"{site.url}/ui/jobs/{odd_job}/rows.ndjson?changed=fixed").text.splitlines()
    assert [(row["sample_id"], row["arm"]) for row in map(json.loads, lines)] == [
        ("a", "raw"),
        ("a", "tools"),
    ]
    table = csv.DictReader(io.StringIO(fetch(f"{site.url}/ui/jobs/{odd_job}/rows.csv").text))
    assert sorted(row["sample_id"] for row in table) == ["a", "a", "b", "b", "c", "c", "d", "d", "e"]


def test_the_list_works_without_script(site: Site, odd_job: str, visit: Callable[..., Visit]) -> None:
    page = visit(site, script=False).open(f"/ui/jobs/{odd_job}/trials")
    page.get_by_role("checkbox", name=re.compile("regressed")).check()
    page.get_by_role("button", name="Show").first.click()
    assert page.locator("tr[data-row]").count() == 1
    assert "changed=regressed" in page.url
