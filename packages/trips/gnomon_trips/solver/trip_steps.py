"""Answers what the steps of a trip ask: which places to keep, where to eat and sleep, what a guide says."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gnomon.core.message import Message
from gnomon_tools.core.json_text import json_value
from gnomon_trips.solver.guide import guide_of

Data = Mapping[str, Any]


def answer_step(mark: str, messages: Sequence[Message]) -> str:
    """The answer, by fixed rules."""
    content = messages[0]["content"]
    line = content.split("\n", 2)[1] if isinstance(content, str) else ""
    data = json_value(line)
    return "" if data is None else json.dumps(ANSWERS[mark](data), ensure_ascii=False)


def _selected(data: Data) -> Data:
    """Must-see places, then those asked for, then the best known."""
    rows = sorted(data["places"], key=lambda row: (not row["must_see"], not row["asked_for"], -row["fame"]))
    return {"places": [row["name"] for row in rows[: data["room"]]]}


def _recommended(data: Data) -> Data:
    """Of each choice the candidate with known hours that is nearest."""
    picks = []
    for choice in data["choices"]:
        rows = sorted(choice["candidates"], key=lambda row: (row["hours"] == "not known", row["distance_m"]))
        if rows:
            best = rows[0]
            why = f"{best['distance_m']} m from {choice['near']}" if choice.get("near") else ""
            picks.append({"for": choice["for"], "place": best["id"], "why": why})
    return {"picks": picks}


ANSWERS: Mapping[str, Callable[[Data], Data]] = {
    "SELECT:": _selected,
    "RECOMMEND:": _recommended,
    "GUIDE:": guide_of,
}
