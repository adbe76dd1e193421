"""A film and a list of places, from the spec over the real graph to the judged row."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gnomon_trips.service.requests import TOOLS
from tests.chat_provider import ChatProvider
from tests.numbered import write_clip

PLACES = ["Tokyo Tower", "Shibuya Crossing"]
SEEN = [
    {"name": "Senso-ji Temple", "from_s": 2.0, "to_s": 3.5},
    {"name": "Tokyo Tower", "from_s": 0.5, "to_s": 1.5},
    {"name": "Atlantis Gate", "from_s": 4.0, "to_s": 5.0},
]
REQUEST = {
    "area": "japan",
    "start_date": "2026-06-10",
    "days": 2,
    "mode": "rail",
    "places": PLACES,
    "meals": [{"name": "lunch"}],
    "recommend": True,
    "guide": True,
    "truth": ["Senso-ji Temple", "Tokyo Tower", "Meiji Shrine"],
}
LIE = "Sensō-ji closes at 12:00 and is 90 km from Tokyo Tower."


class Traveller(ChatProvider):
    """A provider that sees a film, plans by the tools, and lies once in its guide."""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        messages = request["messages"]
        text = words(messages[0])
        if text.startswith("GUIDE:"):
            return {"role": "assistant", "content": json.dumps(guide(json.loads(text.split("\n")[1])))}
        if len(messages) == 1:
            return {"role": "assistant", "content": json.dumps({"request": {"video": SEEN}})}
        results = [message for message in messages if message["role"] == "tool"]
        if not results:
            call = {"name": "plan_trip", "arguments": "{}"}
            calls = [{"id": "c1", "type": "function", "function": call}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        planned = json.loads(results[0]["content"])
        return {"role": "assistant", "content": json.dumps({"days": planned["days"]})}


def guide(data: dict[str, Any]) -> dict[str, Any]:
    """A true sentence of every stop; a false one of the first day, which the model never mends."""
    days = []
    for day in data["days"]:
        stops = [
            {"place": stop["place"], "text": f"You arrive at {stop['arrive']}."} for stop in day["stops"]
        ]
        days.append({"day": day["day"], "intro": LIE if day["day"] == 1 else "", "stops": stops, "notes": []})
    return {"guide": days}


def words(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


@pytest.fixture
def traveller() -> Iterator[Traveller]:
    with Traveller() as provider:
        yield provider


@pytest.mark.parametrize("videos", [True, False])
def test_a_film_becomes_a_judged_itinerary(
    videos: bool,
    traveller: Traveller,
    tmp_path: Path,
    run_job: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    film = write_clip(tmp_path / "vlog.mp4", 60)
    arm = {"name": "plan", "agent": "planner", "tools": list(TOOLS), "max_tool_calls": 60, "max_turns": 20}
    spec = {
        "benchmark": "itinerary",
        "data": str(film),
        "select": {"request": REQUEST},
        "models": [{"id": "openai/m", "api_base": traveller.url, "videos": videos}],
        "preflight": False,
        "arms": [arm],
    }
    report = run_job(spec)
    measures = {row["measure"]: row["by_task"]["all"]["mean"] for row in report["measures"]}

    blocks = traveller.requests[0]["messages"][0]["content"]
    kinds = [block["type"] for block in blocks]
    assert (kinds.count("video_url"), kinds.count("image_url")) == ((1, 0) if videos else (0, 24))
    if videos:
        url = next(block["video_url"]["url"] for block in blocks if block["type"] == "video_url")
        assert base64.b64decode(url.removeprefix("data:video/mp4;base64,")) == film.read_bytes()
    assert not any("Meiji" in json.dumps(request) for request in traveller.requests)

    assert report["arms"][0]["mean"] == 1.0, (report["arms"], measures)
    assert measures["video_precision"] == measures["video_recall"] == pytest.approx(2 / 3)
    assert measures["guide_false"] == 0.0
    assert measures["guide_cut"] == 1.0
    assert measures["guide_true"] == 1.0
    guides = [request for request in traveller.requests if words(request["messages"][0]).startswith("GUIDE:")]
    assert [LIE in words(request["messages"][0]) for request in guides] == [False, True]
