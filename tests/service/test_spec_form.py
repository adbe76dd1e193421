"""The form of a new job keeps, shows and writes an arm's condition and early stopping."""

from typing import Any

import pytest
from starlette.datastructures import FormData

from gnomon_service.web.spec_form import CONDITIONS, DEFAULT, blank_entry, changed, form_of

TIME = {"mcp": {"command": ["uvx", "mcp server"]}, "include": ["now", "zone_*"]}
MAPS = {"mcp": {"url": "https://maps.example.org"}, "fill": {"scene": "$scene"}, "exclude": ["delete"]}
WRITTEN = {
    "benchmark": "worlds",
    "models": [{"id": "reference"}],
    "arms": [
        {"name": "raw", "agent": "direct", "wording": "plain", "confidence": True},
        {"name": "tools", "agent": "react", "tools": "all", "results": "other_scene"},
        {"name": "served", "agent": "react", "tools": ["speed", TIME, MAPS]},
    ],
    "analysis": {"margin": {"odds": 1.2}, "sequential": True},
}


def as_posted(**edits: str) -> FormData:
    """What a browser sends of the form, with these fields edited."""
    form = form_of(WRITTEN)
    fields = {name: str(value) for name, value in form["values"].items()}
    for kind in ("models", "arms"):
        for at, item in enumerate(form[kind]):
            own = {name: value for name, value in item.items() if isinstance(value, str)}
            fields |= {f"{kind}.{at}.{name}": value for name, value in own.items()}
            for row, server in enumerate(item.get("servers", ())):
                fields |= {f"{kind}.{at}.servers.{row}.{name}": value for name, value in server.items()}
    chosen = [(f"arms.{at}.chosen", name) for at, arm in enumerate(form["arms"]) for name in arm["chosen"]]
    return FormData([*(fields | edits).items(), *chosen])


def test_an_unedited_form_leaves_conditions_servers_margin_and_early_stopping_as_they_are() -> None:
    assert changed(WRITTEN, as_posted()) == WRITTEN


def test_a_condition_that_is_chosen_is_written_and_the_usual_one_is_not() -> None:
    edits = {
        "arms.0.wording": "original",
        "arms.0.confidence": "no",
        "arms.1.transform": "mirror",
        "arms.1.confidence": "yes",
        "analysis.sequential": "no",
    }
    spec = changed(WRITTEN, as_posted(**edits))
    raw, tools, _ = spec["arms"]
    assert raw == {"name": "raw", "agent": "direct"}
    assert (tools["transform"], tools["confidence"], tools["results"]) == ("mirror", True, "other_scene")
    assert spec["analysis"] == {"margin": {"odds": 1.2}}


def test_a_form_that_does_not_send_conditions_keeps_them() -> None:
    sent = as_posted()
    kept = {name: value for name, value in sent.items() if name.rpartition(".")[2] not in CONDITIONS}
    assert changed(WRITTEN, FormData(kept))["arms"] == WRITTEN["arms"]


@pytest.mark.parametrize(
    ("edits", "tools"),
    [
        ({"arms.2.servers.0.server": ""}, ["speed", MAPS]),
        ({"remove": "arms.2.servers.1"}, ["speed", TIME]),
        ({"arms.2.servers.0.include": ""}, ["speed", {"mcp": TIME["mcp"]}, MAPS]),
        ({"arms.2.tools": "all"}, ["all", TIME, MAPS]),
        ({"arms.2.tools": "none"}, [TIME, MAPS]),
        ({"add": "arms.2.servers"}, ["speed", TIME, MAPS, {"mcp": {"command": []}}]),
        ({"arms.2.servers.1.server": "npx 'open"}, ["speed", TIME, {"mcp": "npx 'open"}]),
    ],
)
def test_tool_servers_are_added_changed_and_removed(edits: dict[str, str], tools: list[object]) -> None:
    assert changed(WRITTEN, as_posted(**edits))["arms"][2]["tools"] == tools


def test_a_preset_gets_its_tools_from_a_server() -> None:
    before = {"arms": {"preset": "mcp_card", "faults": False}}
    added = {"preset": "mcp_card", "arms.servers.0.server": "uvx time", "arms.servers.0.include": "now"}
    after = changed(before, FormData(added))["arms"]
    assert after == before["arms"] | {"tools": [{"mcp": {"command": ["uvx", "time"]}, "include": ["now"]}]}
    assert form_of({"arms": after})["servers"] == [{"server": "uvx time", "include": "now"}]
    assert changed({"arms": after}, FormData({"preset": "mcp_card", "arms.servers.0.server": ""})) == {
        "models": [],
        "arms": before["arms"],
    }


def test_another_benchmark_brings_its_own_name_size_and_seed() -> None:
    spec = changed(DEFAULT, FormData([*_posted(DEFAULT).items(), ("benchmark", "questions")]))
    assert (spec["name"], "select" in spec) == ("tools on questions", False)
    back = changed(spec, FormData([*_posted(spec).items(), ("benchmark", "worlds")]))
    assert (back["name"], back["select"]) == (DEFAULT["name"], DEFAULT["select"])
    named = {**DEFAULT, "name": "mine"}
    assert changed(named, FormData([*_posted(named).items(), ("benchmark", "questions")]))["name"] == "mine"


def _posted(written: dict[str, Any]) -> dict[str, str]:
    form = form_of(written)
    fields = {name: str(value) for name, value in form["values"].items() if name != "benchmark"}
    for kind in ("models", "arms"):
        for at, item in enumerate(form[kind]):
            own = {name: value for name, value in item.items() if isinstance(value, str)}
            fields |= {f"{kind}.{at}.{name}": value for name, value in own.items()}
    return fields


def test_a_row_that_was_added_waits_for_what_is_typed_into_it() -> None:
    added = changed(WRITTEN, FormData([*as_posted().items(), ("add", "arms.2.servers")]))
    assert "tool server" in blank_entry(added)
    added = changed(WRITTEN, FormData([*as_posted().items(), ("add", "models")]))
    assert "model" in blank_entry(added)
    assert blank_entry(WRITTEN) == ""
