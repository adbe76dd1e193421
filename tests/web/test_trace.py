"""The page of a trial: links to steps, the scene's layers, the clock, other arms, and hostile traces."""

import json
from collections.abc import Callable

import httpx

from gnomon.core.trace import Trace
from gnomon_workers.store.schema import traces
from gnomon_workers.store.serialization import pack
from tests.web.conftest import Site, Visit


def rewrite(site: Site, trial_id: str, **parts: object) -> None:
    """Replace parts of a stored trace."""
    trace = {**(site.store.trace(trial_id) or {}), **parts}
    with site.store.writing() as db:
        db.execute(traces.update().where(traces.c.trial_id == trial_id).values(body=pack(trace)))


def trial(site: Site) -> str:
    return site.trial_id("w0-00010", "tools")


def test_a_link_to_a_step_opens_it_and_draws_it_alone(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/trials/{trial(site)}#step=3")
    assert page.locator("[data-step='3'] > details").get_attribute("open") is not None
    assert page.locator("[data-step='3']").get_attribute("data-shown") is not None
    shown = page.locator("svg.scene g[data-layer='step-3']").first
    assert "is-off" not in (shown.get_attribute("class") or "")
    hidden = page.locator("svg.scene g[data-layer='step-4']").first
    assert "is-off" in (hidden.get_attribute("class") or "")


def test_opening_a_step_changes_the_address_but_not_the_history(
    site: Site, visit: Callable[..., Visit]
) -> None:
    page = visit(site).open(f"/ui/trials/{trial(site)}")
    before = page.evaluate("history.length")
    page.locator("[data-step='1'] summary").first.click()
    page.wait_for_function("location.hash.startsWith('#step=1')")
    assert page.evaluate("history.length") == before


def test_the_cursor_is_over_the_time_that_the_bar_says(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/trials/{trial(site)}")
    bar = page.locator("svg.wide-clock [data-says^='seen']").first
    page.locator("[data-time]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }",
        float(bar.get_attribute("data-from") or 0),
    )
    cursor, rect = page.locator("svg.wide-clock .cursor").bounding_box(), bar.bounding_box()
    assert cursor is not None
    assert rect is not None
    assert abs(cursor["x"] + cursor["width"] / 2 - rect["x"]) < 3


def test_the_time_bar_says_the_time_and_who_sees_the_target(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/trials/{trial(site)}")
    bar = page.locator("svg.wide-clock [data-says^='seen']").first
    middle = (float(bar.get_attribute("data-from") or 0) + float(bar.get_attribute("data-until") or 0)) / 2
    page.locator("[data-time]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", middle
    )
    says = bar.get_attribute("data-says") or "nothing"
    assert says in (page.locator("[data-time]").get_attribute("aria-valuetext") or "")
    camera = says.split()[-1]
    lit = page.locator(f"svg.scene [data-camera='{camera}']").first
    assert "is-on" in (lit.get_attribute("class") or "")
    assert page.locator("circle.moving").get_attribute("visibility") == "visible"


def test_the_keys_move_over_steps_and_to_the_other_arm(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/trials/{trial(site)}#step=1")
    page.keyboard.press("j")
    assert page.locator("[data-row][data-current]").get_attribute("data-step") == "2"
    page.keyboard.press("c")
    page.wait_for_url("**/ui/compare/trials?*")
    assert page.locator("#diverge").count() == 1


def test_without_script_every_fact_is_on_the_page(site: Site, visit: Callable[..., Visit]) -> None:
    shown = visit(site, script=False).open(f"/ui/trials/{trial(site)}?step=2")
    assert shown.locator("[data-step='2'] > details").get_attribute("open") is not None
    assert shown.locator("svg.scene").count() == 1
    trace = site.store.trace(trial(site)) or {}
    for step in trace["steps"]:
        if step["kind"] == "tool":
            assert step["observation"][:60] in shown.locator("main").text_content()


def test_the_twins_hold_the_same_facts_and_no_drawing(site: Site) -> None:
    view = httpx.get(f"{site.url}/ui/trials/{trial(site)}.json").json()
    assert view["trial"]["sample_id"] == "w0-00010"
    assert not [name for name in view if name.startswith("_")]
    text = httpx.get(f"{site.url}/ui/trials/{trial(site)}.md").text
    assert text.startswith(f"# {view['title']}")
    assert "<svg" not in text


def test_a_hostile_trace_stays_text(site: Site, visit: Callable[..., Visit]) -> None:
    bad = "</pre><script>document.title='owned'</script><img src=x onerror=alert(1)>\u202egnirts"
    call = {
        "kind": "tool",
        "name": bad,
        "arguments": bad,
        "observation": json.dumps({"a": bad}),
        "error": None,
    }
    reply = {"kind": "reply", "text": bad, "reasoning": bad, "tool_calls": [], "flags": [bad]}
    rewrite(site, trial(site), steps=[reply, call, {"kind": "note", "text": bad}], response=bad)
    shown = visit(site)
    page = shown.open(f"/ui/trials/{trial(site)}")
    assert page.title() != "owned"
    assert page.locator("main script, main img[src='x']").count() == 0
    assert bad in page.locator(".said").first.text_content()
    assert shown.errors == []


def test_a_trace_of_a_megabyte_and_one_of_nothing_open(site: Site, visit: Callable[..., Visit]) -> None:
    rewrite(site, trial(site), steps=[{"kind": "reply", "text": "long " * 200_000, "tool_calls": []}])
    page = visit(site).open(f"/ui/trials/{trial(site)}")
    assert page.locator(".step").count() == 1
    rewrite(site, trial(site), **Trace().to_json())
    assert "No step is kept" in visit(site).open(f"/ui/trials/{trial(site)}").locator("main").inner_text()


def test_a_changed_result_is_handed_out_as_a_file_to_try(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site).open(f"/ui/trials/{trial(site)}#step=1")
    page.locator("[data-step='1'] .again summary").click()
    page.locator("[data-step='1'] textarea").fill('{"cameras": []}')
    with page.expect_download() as download:
        page.locator("[data-step='1'] .again button").click()
    text = download.value.path().read_text()
    assert "recorded:" in text
    assert '{"cameras": []}' in text


def test_two_trials_part_where_the_first_call_differs(site: Site, visit: Callable[..., Visit]) -> None:
    raw = site.trial_id("w0-00010", "raw")
    page = visit(site).open(f"/ui/compare/trials?a={trial(site)}&b={raw}")
    assert page.locator("h1").inner_text() == "tools and raw differ from step 1"
    page = visit(site).open(f"/ui/compare/trials?a={raw}&b={raw}")
    assert page.locator("h1").inner_text() == "raw and raw did the same"
