"""The card of a real server: two public-like tools, a model played by a script."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RunJob = Callable[[dict[str, Any]], dict[str, Any]]
SERVER = Path(__file__).parents[1] / "tools" / "servers" / "small_server.py"
SPEC = {
    "benchmark": "worlds",
    "select": {"limit": 2, "seed": 5},
    "models": [
        {
            "id": "scripted",
            "options": {
                "rules": [
                    {
                        "tools": True,
                        "tool_choice": "auto",
                        "replies": [
                            {"tool_calls": [{"name": "small__add", "arguments": {"a": 1, "b": 2}}]},
                            "The answer is A.",
                        ],
                    }
                ],
                "replies": ["The answer is A."],
            },
        }
    ],
    "arms": {
        "preset": "mcp_card",
        "shapley": False,
        "tools": [
            {
                "name": "small",
                "mcp": {"command": [sys.executable, str(SERVER)]},
                "include": ["add", "refuse"],
            }
        ],
    },
}


def test_a_card_is_made_of_a_server_that_runs(run_job: RunJob) -> None:
    [card] = run_job(SPEC)["server_cards"]
    assert card["servers"] == ["small"]
    tools = {tool["name"]: tool for tool in card["tools"]}
    assert (tools["add"]["calls"], tools["add"]["errors"]) == (2, 0)
    assert tools["refuse"]["role"] == "never_called"
    assert tools["refuse"]["schema_tokens"] > 0
    assert card["verdict"] == "undecided"
    assert card["sentences"][0].startswith("It cannot be told whether “small” helps scripted: 0.0 points")
    errors = {row["kind"]: row["n"] for row in card["errors"]}
    # Where `add` is left out the script calls it all the same: a call of a tool that is not offered.
    assert errors["calls that do not fit the schema"] == 2


def test_a_card_is_made_with_an_agent_from_outside(run_job: RunJob) -> None:
    agent = Path(__file__).parents[2] / "examples" / "agents" / "as_command.py"
    arms = {
        "preset": "mcp_card",
        "tools": ["list_cameras"],
        "agent": {"command": [sys.executable, str(agent)]},
    }
    spec = {"benchmark": "worlds", "select": {"limit": 2, "seed": 5}, "arms": arms}
    [card] = run_job(spec)["server_cards"]
    assert [(step["baseline"], step["variant"]) for step in card["steps"]] == [
        ("raw", "placebo"),
        ("placebo", "live"),
    ]
    [tool] = card["tools"]
    assert (tool["calls"], tool["errors"]) == (2, 0)  # counted here, in somebody else's loop
