"""The form of a new job: it and its YAML are one spec, faults are shown where they belong, and Run runs."""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
import yaml
from playwright.sync_api import Page, expect

from gnomon_service.jobs import draft_from_request
from gnomon_service.settings import read_settings
from tests.service.endpoints import CallsAsText, Hanging
from tests.web.conftest import Site, Visit
from tests.workers.conftest import children_of, is_alive, wait_until

Open = Callable[..., Visit]


def spec_on(page: Page) -> dict[str, object]:
    return yaml.safe_load(page.locator("#yaml").input_value())


def field(page: Page, path: str):  # type: ignore[no-untyped-def]
    return page.locator(f'[id="{path}"]')


def test_the_form_as_it_opens_runs_offline(site: Site, visit: Open) -> None:
    page = visit(site, script=False).open("/ui/new")
    expect(page.locator("#answer")).to_contain_text(
        "560 trials, at no cost. 8 of 10 such jobs would find a difference of 1"
    )
    page.locator("#run").click()
    job = site.store.jobs().items[0]
    assert page.url == f"{site.url}/ui/jobs/{job.id}"
    assert (job.name, job.counts.planned) == ("tools on generated worlds", 560)


def test_run_twice_is_one_job(site: Site) -> None:
    fields = {"yaml": "benchmark: worlds\nmodels: [{id: reference}]\narms: [{name: raw, agent: direct}]\n"}
    fields |= {"yaml_before": "", "token": "0123", "select": ""}
    headers = {"Origin": site.url}
    answers = [httpx.post(f"{site.url}/ui/jobs", data=fields, headers=headers, timeout=60) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert answers[0].headers["location"] == answers[1].headers["location"]


def test_a_fault_is_shown_at_its_field_as_one_types(site: Site, visit: Open) -> None:
    page = visit(site).open("/ui/new")
    limit = field(page, "select.limit")
    limit.fill("many")
    error = field(page, "select.limit-error")
    expect(error).to_contain_text("must be a whole number")
    expect(limit).to_have_attribute("aria-describedby", "select.limit-error")
    assert page.evaluate("document.activeElement.id") == "select.limit"
    assert limit.input_value() == "many"
    limit.fill("28")
    expect(error).to_have_count(0)
    expect(limit).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator("#plan")).to_contain_text("4 clusters only.")
    field(page, "arms.1.name").fill("raw")
    expect(page.locator(".field-error").first).to_contain_text("'raw' stands twice")


def test_a_choice_made_while_an_answer_is_on_its_way_stays(site: Site, visit: Open) -> None:
    page, held = visit(site).open("/ui/new"), []
    page.route("**/ui/new/check", lambda route: held.append((route, route.fetch())), times=1)
    field(page, "select.limit").fill("28")
    while not held:
        page.wait_for_timeout(50)
    field(page, "arms.0.agent").select_option("react")
    route, reply = held[0]
    route.fulfill(response=reply)
    expect(page.locator("#yaml")).to_have_value(re.compile(r"limit: 28\n"))
    assert spec_on(page)["arms"][0]["agent"] == "react"  # type: ignore[index]


def test_form_and_yaml_are_one_spec(site: Site, visit: Open) -> None:
    page = visit(site).open("/ui/new")
    field(page, "models.0.id").fill("openai/gpt-4o")
    field(page, "models.0.api_key_env").fill("OPENAI_API_KEY")
    field(page, "limits.usd").fill("2.5")
    expect(page.locator("#plan")).to_contain_text("limit $2.50")
    assert spec_on(page)["models"] == [{"id": "openai/gpt-4o", "api_key_env": "OPENAI_API_KEY"}]
    text = page.locator("#yaml").input_value().replace("limit: 280", "limit: 700\n  tasks: [MotionState]")
    page.locator("#yaml").fill(text + "protocol: official\n")
    expect(field(page, "select.limit")).to_have_value("700")
    field(page, "repeats").fill("2")
    expect(page.locator("#yaml")).to_have_value(re.compile("repeats: 2"))
    spec = spec_on(page)
    assert (spec["repeats"], spec["protocol"]) == (2, "official")
    assert spec["select"] == {"limit": 700, "seed": 7, "tasks": ["MotionState"]}


def test_yaml_that_cannot_be_read_is_said_and_kept(site: Site, visit: Open) -> None:
    page = visit(site, script=False).open("/ui/new")
    page.locator("#yaml").fill("models: [")
    page.locator("#check").click()
    expect(page.locator("#yaml-error")).to_contain_text("not valid YAML")
    assert page.locator("#yaml").input_value() == "models: ["
    expect(field(page, "select.limit")).to_have_value("280")


@pytest.mark.parametrize("script", [True, False])
def test_arms_are_added_and_removed(script: bool, site: Site, visit: Open) -> None:
    page = visit(site, script=script).open("/ui/new")
    page.locator("#add-arm").click()
    field(page, "arms.2.name").fill("two tools")
    field(page, "arms.2.tools").select_option("chosen")
    if not script:
        page.locator("#check").click()
    page.locator('[id="arms.2"]').get_by_label("distance", exact=True).check()
    page.locator('[id="arms.1"]').get_by_role("button", name="Remove").click()
    expect(page.locator("fieldset.entry[id^='arms.']")).to_have_count(2)
    assert spec_on(page)["arms"] == [
        {"name": "raw", "agent": "direct"},
        {"name": "two tools", "agent": "react", "tools": ["distance"]},
    ]


@pytest.mark.parametrize("change", ["", "preset", "chosen"])
def test_what_the_form_writes_is_a_spec_for_the_api(change: str, site: Site, visit: Open) -> None:
    page = visit(site, script=False).open("/ui/new")
    field(page, "select.limit").fill("28")
    if change == "preset":
        page.locator("#preset").select_option("ladder")
    if change == "chosen":
        field(page, "arms.1.tools").select_option("chosen")
        page.locator("#check").click()
        page.locator('[id="arms.1"]').get_by_label("distance", exact=True).check()
    page.locator("#check").click()
    expect(page.locator(".field-error")).to_have_count(0)
    posted = httpx.post(f"{site.url}/v1/jobs", json=spec_on(page), timeout=60)
    assert posted.status_code == 202, posted.text


def test_a_job_like_another_has_its_spec(site: Site, visit: Open) -> None:
    page = visit(site).open(f"/ui/new?from={site.job_id}")
    settings = read_settings({}, data_dir=site.folder)
    draft = draft_from_request(spec_on(page), settings)
    assert draft.spec.content_hash == site.store.job(site.job_id).spec.content_hash


def test_a_refused_run_shows_the_form_with_its_fault(site: Site, visit: Open) -> None:
    page = visit(site, script=False).open("/ui/new")
    field(page, "models.0.id").fill("no-such-model")
    page.locator("#run").click()
    expect(field(page, "models.0.id-error")).to_be_visible()
    expect(field(page, "models.0.id")).to_have_value("no-such-model")
    assert len(site.store.jobs().items) == 1


SERVER = """
from mcp.server import MCPServer

server = MCPServer("roads")


@server.tool()
def road_length(name: str) -> str:
    "The length of a road in metres."
    return f"{name} is {140 + 7 * len(name)} m long"


@server.tool()
def road_name(number: int) -> str:
    "What a road is called."
    return f"Road {number}"


server.run("stdio")
"""


@pytest.mark.parametrize("script", [True, False])
def test_a_tool_server_is_added_listed_and_run(
    script: bool, open_site: Callable[..., Site], visit: Open, tmp_path: Path
) -> None:
    (tmp_path / "roads.py").write_text(SERVER)
    command = shlex.join([sys.executable, str(tmp_path / "roads.py")])
    site = open_site(GNOMON_ALLOWED_COMMANDS=command)
    page = visit(site, script=script).open("/ui/new")
    arm = page.locator('[id="arms.1"]')
    arm.get_by_role("button", name="Add a tool server").click()
    field(page, "arms.1.servers.0.server").fill(command)
    if script:
        expect(page.locator("#answer")).to_contain_text("Press Check: its tool servers are asked")
    field(page, "arms.1.tools").select_option("none")
    page.locator("#check").click()
    expect(page.locator("#plan")).to_contain_text("2 tools of roads")
    page.locator("#plan-server-roads").get_by_text("2 tools of roads").click()
    expect(page.locator("#plan-server-roads")).to_contain_text("roads__road_name: What a road is called.")
    field(page, "arms.1.servers.0.include").fill("road_length")
    page.locator("#check").click()
    expect(page.locator("#plan")).to_contain_text("1 tool of roads")
    page.locator("#run").click()
    page.wait_for_url("**/ui/jobs/*")
    job = site.store.jobs().items[0].id
    assert site.store.job(job).spec.arm("tools").tools == ("roads__road_length",)


def test_a_server_that_is_not_allowed_is_refused_at_its_arm(site: Site, visit: Open) -> None:
    page = visit(site, script=False).open("/ui/new")
    page.locator("#preset").select_option("mcp_card")
    page.locator("#check").click()
    page.get_by_role("button", name="Add a tool server to the preset").click()
    field(page, "arms.servers.0.server").fill("python roads.py")
    page.locator("#run").click()
    expect(field(page, "arms.tools-error")).to_contain_text("GNOMON_ALLOWED_COMMANDS")
    expect(field(page, "arms.servers.0.server")).to_have_value("python roads.py")


def test_all_faults_of_a_file_of_questions_are_listed(
    open_site: Callable[..., Site], visit: Open, tmp_path: Path
) -> None:
    rows = [{"id": "a", "question": "How far?"}, {"id": "a", "question": "How fast?", "answer": "B"}]
    (tmp_path / "mine.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    page = visit(open_site(GNOMON_MEDIA_ROOTS=str(tmp_path)), script=False).open("/ui/new")
    page.locator("#benchmark").select_option("questions")
    page.locator("#check").click()
    field(page, "data").fill(str(tmp_path / "mine.jsonl"))
    page.locator("#check").click()
    expect(field(page, "data-error")).to_contain_text("line 1")
    expect(field(page, "data-error")).to_contain_text("line 2")


def endpoint_spec(url: str, **model: object) -> str:
    spec = {
        "benchmark": "worlds",
        "select": {"limit": 28},
        "models": [{"id": "openai/m", "api_base": url, **model}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
    }
    return yaml.safe_dump(spec, sort_keys=False)


def test_the_endpoint_is_checked_before_anything_is_run(site: Site, visit: Open) -> None:
    with CallsAsText() as endpoint:
        page = visit(site).open("/ui/new")
        page.locator("#yaml").fill(endpoint_spec(endpoint.url))
        expect(field(page, "models.0.api_base")).to_have_value(endpoint.url)
        page.locator("#check-endpoint").click()
        table = page.locator("#endpoints")
        expect(table).to_contain_text("not fit for native tools", timeout=60_000)
        expect(table).to_contain_text("written as text, in the form bare_json")
        expect(table).to_contain_text("tool_calls: text")
        assert len(endpoint.requests) == 4
        assert len(site.store.jobs().items) == 1, "nothing was run"
        field(page, "models.0.id").fill("reference")
        expect(table).to_have_count(0)


def test_an_endpoint_that_is_not_allowed_is_not_called(open_site: Callable[..., Site]) -> None:
    site = open_site(GNOMON_API_KEYS="0123456789abcdef0123456789abcdef")
    with CallsAsText() as endpoint:
        fields = {"yaml": endpoint_spec(endpoint.url), "yaml_before": ""}
        headers = {"Origin": site.url, "Authorization": "Bearer 0123456789abcdef0123456789abcdef"}
        answer = httpx.post(f"{site.url}/ui/new/endpoint", data=fields, headers=headers, timeout=60)
        assert "is not allowed" in answer.text
        assert endpoint.requests == []


def test_a_check_ends_when_nobody_waits_for_it(site: Site) -> None:
    with Hanging() as endpoint, closing(HTTPConnection(urlsplit(site.url).netloc)) as connection:
        fields = urlencode({"yaml": endpoint_spec(endpoint.url), "yaml_before": ""})
        headers = {"Origin": site.url, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/ui/new/endpoint", body=fields, headers=headers)
        wait_until(lambda: len(endpoint.requests) == 1)
        assert checks_under_way()
        connection.close()
        wait_until(lambda: not checks_under_way(), within_s=20)
        assert len(endpoint.requests) == 1


def checks_under_way() -> list[int]:
    """Processes of this one that check endpoints."""
    return [
        pid
        for pid in children_of(os.getpid())
        if is_alive(pid) and b"gnomon_workers.endpoint_check" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
