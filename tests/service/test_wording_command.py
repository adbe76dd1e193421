"""`gnomon wording MODEL` asks in every wording of the closing sentence, and counts calls of tools."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chat_provider import ChatProvider

Gnomon = Callable[..., "subprocess.CompletedProcess[str]"]


class CallsWhenAskedForJson(ChatProvider):
    """Calls a tool where the prompt asks for JSON and tools are offered; else answers at once."""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(request["messages"][0]["content"])
        has_called = any(message["role"] == "tool" for message in request["messages"])
        if request.get("tools") and "JSON" in text and not has_called:
            function = {"name": "distance", "arguments": "{}"}
            call = {"id": "c1", "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"role": "assistant", "content": '{"answer": 1}'}


def test_calls_are_counted_under_each_wording(run_gnomon: Gnomon, tmp_path: Path) -> None:
    with CallsWhenAskedForJson() as provider:
        target = ("wording", "openai/m", "--api-base", provider.url)
        done = run_gnomon(*target, "--questions", "2", "--data-dir", str(tmp_path / "new"), "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["calls_by_wording"]
    called = {row["wording"]: (row["called"], row["samples"]) for row in rows}
    in_json, others = {"end_json", "when_json"}, {"original", "first_words", "last_line"}
    assert called == {**dict.fromkeys(in_json, (2, 2)), **dict.fromkeys(others, (0, 2))}
