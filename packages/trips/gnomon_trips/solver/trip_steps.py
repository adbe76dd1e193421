"""Answers what the steps of a trip ask: which places to keep, where to eat and sleep, what a guide says."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from gnomon.core.message import Message
from gnomon_tools.core.json_text import json_value
from gnomon_trips.export.words import BY
from gnomon_trips.itinerary.request import KEPT_FREE

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


BY_JA = {"walk": "徒歩", "rail": "電車", "bus": "バス", "car": "車", "ferry": "フェリー", "air": "飛行機"}
WEEKDAYS_JA = {
    "Monday": "月曜日", "Tuesday": "火曜日", "Wednesday": "水曜日", "Thursday": "木曜日", "Friday": "金曜日",
    "Saturday": "土曜日", "Sunday": "日曜日",
}  # fmt: skip
MEALS_JA = {"breakfast": "朝食", "lunch": "昼食", "dinner": "夕食"}


def guide_of(data: Data) -> Data:
    """The guide of all days; empty where there are no facts."""
    write = _japanese if data.get("language") == "ja" else _english
    return {"guide": [write(day) for day in data.get("days", ()) if day["stops"]]}


def _english(day: Data) -> Data:
    stops = day["stops"]
    count = f"{len(stops)} stop{'s' * (len(stops) != 1)}"
    intro = f"{day['weekday']} has {count}, from {stops[0]['arrive']} to {stops[-1]['leave']}."
    if day["metres"]:
        intro += f" The way is {_far(day['metres'])} and {day['minutes']} min in all."
    return _day(day, intro, _stop_text, _notes(day))


def _day(day: Data, intro: str, stop_text: Callable[[Data, Data | None], str], notes: Sequence[str]) -> Data:
    """A day of the guide; of each stop a text, which knows the stop that follows."""
    stops = day["stops"]
    return {
        "day": day["day"],
        "intro": intro,
        "stops": [
            {"place": stop["place"], "text": stop_text(stop, following)}
            for stop, following in zip_longest(stops, stops[1:])
        ],
        "notes": notes,
    }


def _hours(stop: Data) -> tuple[str, str, bool] | None:
    """The first hours of the day and whether they last all of it; None where they are not sure."""
    if not stop["are_hours_sure"] or stop["hours"] in ("closed", "not known"):
        return None
    start, end = stop["hours"].split(", ")[0].split("-")
    return start, end, start == "00:00" and end >= "24:00"


def _far(metres: int) -> str:
    return f"{metres} m" if metres < 1000 else f"{metres / 1000:.1f} km"


def _stop_text(stop: Data, following: Data | None) -> str:
    if stop["kind"] == KEPT_FREE:
        return (
            f"From {stop['arrive']} to {stop['leave']} there is time to eat; no place for it is known here."
        )
    lines = [f"You arrive at {stop['arrive']} and leave at {stop['leave']}."]
    if way := stop.get("way"):
        far = _far(way["metres"])
        lines.insert(0, f"{way['minutes']} min {BY[way['mode']]}, {far}, from {way['from']}.")
    if stop["meal"]:
        lines.append(f"Time for {stop['meal']}.")
    if hours := _hours(stop):
        start, end, is_always = hours
        lines.append("Open around the clock." if is_always else f"Open {start}-{end} that day.")
    if any(words.startswith("seen") for words in stop["origin"]):
        lines.append("The film shows it.")
    if following:
        is_meal = following["kind"] == KEPT_FREE
        lines.append(
            "There is time to eat here before you go on." if is_meal else f"Next is {following['name']}."
        )
    return " ".join(lines)


def _notes(day: Data) -> list[str]:
    unknown = [stop["name"] for stop in _without_hours(day)]
    notes = [f"Look these up before you go: {', '.join(unknown)}."] if unknown else []
    if day["night"] and day["night_is"] != "given":
        bed = f"For the night: {day['night']}; no source knows whether a room is left."
        none = "Look for a bed where the day ends: no source knows one here."
        notes.append(none if day["night_is"] == "assumed" else bed)
    return notes


def _without_hours(day: Data) -> list[Data]:
    return [stop for stop in day["stops"] if stop["hours"] == "not known" and stop["kind"] != KEPT_FREE]


def _japanese(day: Data) -> Data:
    stops = day["stops"]
    intro = f"{WEEKDAYS_JA[day['weekday']]}は{len(stops)}か所を訪れます。"
    if day["metres"]:
        intro += f"移動は合わせて{day['metres']}m、{day['minutes']}分です。"
    return _day(day, intro, _stop_text_ja, _notes_ja(day))


def _stop_text_ja(stop: Data, following: Data | None) -> str:
    if stop["kind"] == KEPT_FREE:
        return f"{stop['arrive']}から{stop['leave']}までは食事の時間です。ここの飲食店は分かりません。"
    lines = [f"{stop['arrive']}に到着し、{stop['leave']}に出発します。"]
    if way := stop.get("way"):
        lines.insert(
            0,
            f"{way['from_ja'] or way['from']}から{BY_JA[way['mode']]}で{way['minutes']}分、"
            f"{way['metres']}mです。",
        )
    if stop["meal"]:
        lines.append(f"ここで{MEALS_JA[stop['meal']]}をとります。")
    if hours := _hours(stop):
        start, end, is_always = hours
        lines.append("24時間営業です。" if is_always else f"この日の営業時間は{start}から{end}までです。")
    if any(words.startswith("seen") for words in stop["origin"]):
        lines.append("動画に出てくる場所です。")
    if following and following["kind"] == KEPT_FREE:
        lines.append("出発の前に食事の時間があります。")
    elif following:
        lines.append(f"次は{following['name_ja'] or following['name']}です。")
    return "".join(lines)


def _notes_ja(day: Data) -> list[str]:
    unknown = [stop["name_ja"] or stop["name"] for stop in _without_hours(day)]
    notes = (
        [f"出かける前に営業時間を調べてください。{'、'.join(unknown)}のものは分かりません。"]
        if unknown
        else []
    )
    if day["night"] and day["night_is"] != "given":
        notes.append("宿は近くで予約してください。空室のことは分かりません。")
    return notes


ANSWERS: Mapping[str, Callable[[Data], Data]] = {
    "SELECT:": _selected,
    "RECOMMEND:": _recommended,
    "GUIDE:": guide_of,
}
