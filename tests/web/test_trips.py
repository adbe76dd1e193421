"""A trip in the browser: planned from the form, shown as it comes, its stops linked."""

import re
from collections.abc import Callable

from tests.service.play import finish_all
from tests.web.conftest import PHONE, Site, Visit
from tests.web.planned_trips import planned_trip

Open = Callable[..., Visit]


def newest_job(site: Site) -> str:
    return site.store.jobs().items[0].id


def test_a_request_of_the_form_shows_its_plan_as_soon_as_it_is_there(site: Site, visit: Open) -> None:
    planned_trip(site)
    answer = next(site.store.iter_rows(newest_job(site))).answer
    shown = visit(site)
    page = shown.open("/ui/trips")
    page.get_by_role("button", name="Plan this request").click()
    page.wait_for_url("**/ui/trips/t_*")
    assert "is being planned" in page.locator("main").inner_text()
    finish_all(site.store, newest_job(site), answer=answer, metrics={})
    page.locator("#stop-1-1").wait_for()
    assert "checks hold" in page.locator(".trip-answer").inner_text()
    assert shown.errors == []


def test_pointing_at_a_stop_shows_it_on_lane_maps_and_table(site: Site, visit: Open) -> None:
    page = visit(site).open(f"/ui/trips/{planned_trip(site)}")
    page.locator("tr#stop-2-2").hover()
    parts = page.locator(".trip-lit").evaluate_all("parts => parts.map(part => part.tagName)")
    assert parts == ["svg", "g", "svg", "TR"], (
        "on the map of all days, the lane, the map of the day, the table"
    )


def test_a_failing_stop_is_outlined_and_its_reason_is_in_reach_on_a_phone(site: Site, visit: Open) -> None:
    trip = planned_trip(site, ateneum=("18:20", "19:50"))
    page = visit(site, size=PHONE, script=False).open(f"/ui/trips/{trip}")
    assert page.locator(".trip-answer").inner_text() == (
        "2 days in Helsinki: 30 of 32 checks hold; 1 fails: Ateneum closes 18:00, you arrive 18:20; "
        "1 could not be checked."
    )
    assert page.locator(".trip-outline").count() == 1
    assert page.locator(".trip-ring").count() == 2
    page.locator(".trip-wrong a").click()
    assert page.url.endswith("#stop-2-2")
    assert page.locator("#stop-2-2").evaluate("row => row.matches(':target')")


def test_no_word_of_a_time_line_or_a_map_leaves_it(site: Site, visit: Open) -> None:
    trip = planned_trip(site, ateneum=("18:20", "19:50"))
    page = visit(site).open(f"/ui/trips/{trip}")
    for width in (320, 390, 720, 980, 1180, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        outside = page.locator(".trip-lane, .trip-map").evaluate_all(
            """drawings => drawings.flatMap(drawing => {
                const box = drawing.getBoundingClientRect();
                const texts = [...drawing.querySelectorAll("text")];
                return texts.map(text => [text.textContent, text.getBoundingClientRect()])
                    .filter(([, at]) => at.width && (at.left < box.left || at.right > box.right))
                    .map(([words, at]) => [words, at.left - box.left, box.right - at.right]);
            })"""
        )
        assert outside == [], width


def test_paper_has_a_page_for_the_whole_and_one_for_each_day(site: Site, visit: Open) -> None:
    page = visit(site).open(f"/ui/trips/{planned_trip(site)}")
    for paper in ("A4", "Letter"):
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format=paper))) == 3, paper
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".trip-checks, .trip-lane").evaluate_all(
        "parts => parts.every(part => getComputedStyle(part).display === 'none')"
    )
    assert page.evaluate("getComputedStyle(document.body).getPropertyValue('--card')").strip() == "#fff"
