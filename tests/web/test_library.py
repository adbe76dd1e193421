"""Benchmarks, tools, agents and presets each have a page; a form calls a tool as the command line does."""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from redis import Redis

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS
from gnomon.spec.preset import PRESETS
from gnomon_service.api.app import create_app
from gnomon_service.settings import read_settings
from gnomon_service.web.pages import as_html
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.scene.scene import Scene
from gnomon_workbench.commands.tools import tools
from gnomon_workbench.scene_choice import choices
from gnomon_workers.store.store import Store
from tests.web.conftest import Site, Visit

SMALL = Path(__file__).parents[2] / "examples" / "scenes" / "small.geojson"
HOSTILE = "<script>alert(1)</script>\u202e"
HOST = "http://localhost"
HERE = {"origin": HOST}
REGISTRIES = {"benchmarks": BENCHMARKS, "tools": TOOLS, "agents": AGENTS, "presets": PRESETS}
PLUGINS = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry.names()]


@pytest.fixture(scope="module")
def client(finished_folder: Path, redis_url: str) -> Iterator[TestClient]:
    settings = read_settings({}, data_dir=finished_folder)
    store = Store(settings.database_url)
    with TestClient(
        create_app(settings, store=store, redis=Redis.from_url(redis_url)), base_url=HOST
    ) as client:
        yield client
    store.close()


@pytest.fixture(scope="module")
def lists(client: TestClient) -> Mapping[str, str]:
    """The page that lists a kind, by kind."""
    return {kind: client.get(f"/ui/{kind}").text for kind in REGISTRIES}


@pytest.mark.parametrize(("kind", "name"), PLUGINS)
def test_every_plugin_is_listed_and_has_a_page(
    client: TestClient, lists: Mapping[str, str], kind: str, name: str
) -> None:
    assert f'href="/ui/{kind}/{name}"' in lists[kind]
    shown = client.get(f"/ui/{kind}/{name}")
    assert shown.status_code == 200
    text, _, _ = shown.text.partition('aria-label="Source"')
    assert not re.search(
        r"```|\*\*|\]\(", text.partition('aria-label="Documentation"')[0]
    )  # Markdown's marks
    assert client.get(f"/ui/{kind}/{name}.json").json()["title"] == name
    assert client.get(f"/ui/{kind}/{name}.md").text.startswith(f"# {name}\n")


def test_links_leave_their_words_and_asides_that_are_a_link_alone_leave_nothing() -> None:
    shown = as_html(
        "A loop without\nLangGraph\n([why](adr/98.md)), see [agents](agents.md) ([`vote`](agents.md))."
    )
    assert shown == "<p>A loop without\nLangGraph, see agents (<code>vote</code>).</p>\n"


def test_one_of_a_thing_is_not_many_and_no_backticks_are_shown(
    client: TestClient, lists: Mapping[str, str]
) -> None:
    for kind, page in lists.items():
        assert not re.search(r">1 (arms|times)|\b1 times", page), kind
    assert "calls the model once" in lists["agents"]
    assert "`" not in re.sub(r"<(script|pre)\b.*?</\1>", "", client.get("/docs").text, flags=re.DOTALL)


@pytest.mark.parametrize("kind", REGISTRIES)
def test_an_unknown_name_is_not_found(client: TestClient, kind: str) -> None:
    assert client.get(f"/ui/{kind}/nothing").status_code == 404


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS if choices(tool.needs)])
def test_the_example_of_a_tool_works_and_is_drawn_or_tabled(client: TestClient, name: str) -> None:
    call = client.get(f"/ui/tools/{name}.json").json()["call"]
    assert call["error"] == ""
    assert call["table"]["facts"] or call["table"]["rows"]


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS if tool.needs is Scene])
def test_a_form_gives_what_the_command_line_gives(client: TestClient, name: str) -> None:
    arguments = dict(TOOLS.get(name).example)
    fields = {f"a.{key}": json.dumps(value).strip('"') for key, value in arguments.items()}
    answer = client.post(f"/ui/tools/{name}", data={"scene": "small", **fields}, headers=HERE)
    assert answer.status_code == 200
    assert answer.url.params["scene"] == "small"
    shown = client.get(f"/ui/tools/{name}.json", params=answer.url.params).json()["call"]["result"]
    command = ["call", name, "--scene", str(SMALL), "--args", json.dumps(arguments)]
    printed = CliRunner().invoke(tools, command, catch_exceptions=False).output
    assert json.loads(shown) == json.loads(printed)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"a.start": '{"camera": "c99"}', "a.end": '{"camera": "c1"}'}, "There is no camera &#39;c99&#39;"),
        ({"a.start": '{"camera": "c1"}'}, "end: Field required"),
        ({"a.start": "{", "a.end": "1"}, "start: "),
    ],
)
def test_bad_arguments_show_the_tools_own_message(
    client: TestClient, fields: dict[str, str], message: str
) -> None:
    page = client.post("/ui/tools/distance", data={"scene": "small", **fields}, headers=HERE).text
    assert message in page
    assert 'id="call-error"' in page


def test_the_argument_that_a_message_is_about_is_marked(client: TestClient) -> None:
    page = client.post(
        "/ui/tools/speed",
        data={"scene": "small", "a.distance_m": "far", "a.seconds": "2"},
        headers=HERE,
    ).text
    field = page[page.index('id="arg-distance_m"') :]
    assert 'aria-invalid="true"' in field[: field.index(">")]


def test_an_unknown_scene_says_which_there_are(client: TestClient) -> None:
    page = client.get("/ui/tools/distance", params={"scene": HOSTILE}).text
    assert "w0-00000" in page
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_hostile_arguments_stay_text(client: TestClient) -> None:
    arguments = json.dumps({"name": HOSTILE})
    page = client.get("/ui/tools/lookup", params={"scene": "small", "args": arguments}).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_a_form_of_another_site_is_refused(client: TestClient) -> None:
    answer = client.post("/ui/tools/speed", data={"scene": "small"}, headers={"origin": "http://evil.test"})
    assert answer.status_code == 403


def test_long_arguments_are_answered_without_a_link(client: TestClient) -> None:
    points = json.dumps([[float(n), 0.0] for n in range(600)])
    answer = client.post(
        "/ui/tools/cameras_seeing", data={"scene": "small", "a.points": points}, headers=HERE
    )
    assert not answer.history
    assert "What a model would read" in answer.text
    assert "Link to this call" not in answer.text


def test_a_sample_of_a_job_is_a_scene(client: TestClient) -> None:
    job = client.get("/v1/jobs").json()["items"][0]["id"]
    shown = client.get(f"/ui/scenes/{job}/w0-00010.json", params={"tool": "list_cameras"}).json()
    assert shown["sample"] == "w0-00010"
    assert len(json.loads(shown["call"]["result"])["cameras"]) == len(shown["cameras"])


def test_a_form_is_answered_in_place(site: Site, visit: Callable[..., Visit]) -> None:
    visited = visit(site)
    page = visited.open("/ui/tools/speed")
    page.fill("#arg-distance_m", "50")
    page.fill("#arg-seconds", "10")
    page.evaluate("document.body.dataset.same = 'yes'")
    page.get_by_role("button", name="Call speed").click()
    page.get_by_role("heading", name="Result in").wait_for()
    assert page.evaluate("document.body.dataset.same") == "yes"
    assert "args=" in page.url
    assert visited.errors == []
    page.go_back()
    page.get_by_role("heading", name="Result of the example").wait_for()


def test_layers_of_a_scene_are_switched_without_script(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site, script=False).open("/ui/scenes/small")
    cones = page.locator("svg.scene .cone")
    assert cones.first.is_visible()
    page.get_by_label("Views").uncheck()
    assert not cones.first.is_visible()


def test_a_slip_in_one_field_is_named_and_keeps_the_others(client: TestClient) -> None:
    fields = {"a.start": '{"camera": "c1"', "a.end": '{"camera": "c3"}', "scene": "small"}
    page = client.post("/ui/tools/distance", data=fields, headers=HERE).text
    assert "start: " in page
    assert html.escape('{"camera": "c1"', quote=True).replace("&quot;", "&#34;") in page
    assert html.escape('{"camera": "c3"}', quote=True).replace("&quot;", "&#34;") in page
