"""A job on generated worlds with clips: what a provider gets of map, clips or both, up to the report."""

import base64
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image

from tests.chat_provider import ChatProvider


class Watching(ChatProvider):
    """A provider that looks at 0.5 s if it may, and answers A."""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        names = [tool["function"]["name"] for tool in request.get("tools", ())]
        looked = any(message["role"] == "tool" for message in request["messages"])
        if "look_at_frame" in names and not looked:
            call = {"name": "look_at_frame", "arguments": '{"time_s": 0.5}'}
            calls = [{"id": "c1", "type": "function", "function": call}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        return {"role": "assistant", "content": '{"answer": "A"}'}


@pytest.fixture
def watching() -> Iterator[Watching]:
    with Watching() as provider:
        yield provider


def sizes(request: dict[str, Any]) -> list[tuple[str, tuple[int, int]]]:
    """Format and size of each picture of a request."""
    found = []
    for message in request["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block["type"] == "image_url":
                data = base64.b64decode(block["image_url"]["url"].partition("base64,")[2])
                with Image.open(io.BytesIO(data)) as picture:
                    found.append((str(picture.format), picture.size))
    return found


def test_map_only_clip_only_both_and_another_look(
    watching: Watching, run_job: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    spec = {
        "benchmark": "worlds",
        "select": {"limit": 1, "tasks": ["GeoLocation"], "scenes": ["indoor"], "frames": 2},
        "models": [{"id": "openai/eyes", "api_base": watching.url, "price": {"input": 0, "output": 0}}],
        "preflight": False,  # calls are counted
        "arms": [
            {"name": "map", "agent": "direct", "show": ["map"]},
            {"name": "clip", "agent": "direct", "show": ["media"]},
            {"name": "both", "agent": "direct", "show": ["media", "map"]},
            {"name": "look", "agent": "react", "show": ["media"], "tools": ["look_at_frame"]},
        ],
    }
    run_job(spec)
    seen = sorted(sizes(request) for request in watching.requests)
    frame = ("JPEG", (960, 540))
    kinds = [
        (sum(picture == frame for picture in each), sum(picture[0] == "PNG" for picture in each))
        for each in seen
    ]
    assert kinds.count((0, 1)) == 1  # the map
    assert kinds.count((4, 0)) == 2  # clips, of two arms
    assert kinds.count((4, 1)) == 1  # both
    assert len(kinds) == 5
    again = [
        request for request in watching.requests if any(m["role"] == "tool" for m in request["messages"])
    ]
    assert len(sizes(again[0])) == 5
