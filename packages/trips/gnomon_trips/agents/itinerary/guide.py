"""Writes the guide of a plan by the model; false sentences go back once, then they are cut and counted."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from gnomon.core.agent import AgentContext
from gnomon_trips.agents.itinerary.draft_text import Drafted
from gnomon_trips.agents.itinerary.questions import asked
from gnomon_trips.itinerary.draft import DraftGuide, read_draft
from gnomon_trips.itinerary.errors import PlaceError
from gnomon_trips.itinerary.guide_facts import guide_facts, language_of
from gnomon_trips.itinerary.plan import DayGuide, StopText
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.guide import cut_false

Check = Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]]
"""Calls `check_plan` with a plan; a failed call is an answer with `error`."""

GUIDE = "GUIDE:"
FORM = """\
Write a guide to this trip in {language}: for each day an intro of one or two sentences, one to three
sentences for each stop in order, and practical notes. Say nothing of hours, distances, minutes, prices or of
what comes next that the data above do not say; what they do not know, leave out. Answer with one JSON object:
{{"guide": [{{"day": 1, "intro": TEXT, "stops": [{{"place": ID, "text": TEXT}}, ...], "notes": [TEXT]}}]}}"""
AGAIN = """\
These sentences are false: {false}. Write the whole guide again without them, or with what is true. """
LANGUAGES = {"en": "English", "ja": "Japanese"}


async def write_guide(
    context: AgentContext, draft: Drafted, trip: Trip, check: Check | None
) -> tuple[Drafted, str]:
    """The draft with its guide, and a word on how that went. Without `check` nothing is held against facts.

    Raises:
        ProviderFault, ModelFault: as the model raises them.
    """
    language = language_of(trip.request)
    data: dict[str, Any] = {"language": language}
    data |= (
        await asyncio.to_thread(_facts, draft, trip) if check else {"plan": (draft.plan or {}).get("days")}
    )
    form = FORM.format(language=LANGUAGES[language])
    reply = await asked(context, GUIDE, data, form, key="guide")
    guide = _read(reply, language, draft)
    if not guide:
        return draft, "no guide was written"
    if check is None:
        return _with(draft, guide), "written, and not held against facts"
    false = await _false(draft, guide, check)
    sent_back = sum(map(len, false.values()))
    if false:
        false_words = json.dumps([sentence for row in false.values() for sentence in row], ensure_ascii=False)
        reply = await asked(context, GUIDE, data, AGAIN.format(false=false_words) + form, key="guide")
        again = _read(reply, language, draft)
        if again:
            guide, false = again, await _false(draft, again, check)
    guide = list(cut_false(guide, false))
    cut = sum(day.cut for day in guide)
    return _with(draft, guide), f"written; {sent_back} false sentences went back, {cut} were cut"


def _facts(draft: Drafted, trip: Trip) -> dict[str, Any]:
    plan = read_draft(draft.text)
    if isinstance(plan, str):
        return {}
    try:
        return answered(guide_facts(plan, trip), is_local=trip.provider.is_local)
    except PlaceError:
        return {"plan": (draft.plan or {}).get("days")}


async def _false(draft: Drafted, guide: Sequence[DayGuide], check: Check) -> dict[str, list[str]]:
    checked = await check(_with(draft, guide).plan or {})
    false: dict[str, list[str]] = {}
    for fault in checked.get("faults", ()):
        if fault["code"] == "WHY" and str(fault["path"]).startswith("guide."):
            false.setdefault(fault["path"], []).append(fault["found"])
    return false


def _read(reply: Mapping[str, Any] | None, language: str, draft: Drafted) -> list[DayGuide]:
    """The days of a guide; what is no such day is left out, and stops that are not in the plan."""
    rows = reply.get("guide") if reply else None
    days = (draft.plan or {}).get("days", [])
    guide: dict[int, DayGuide] = {}
    for row in rows if isinstance(rows, list) else ():
        try:
            read = DraftGuide.model_validate({**row, "language": language, "cut": 0})
        except (ValueError, TypeError):
            continue
        if not 1 <= read.day <= len(days):
            continue
        ids = {visit["place"] for visit in days[read.day - 1].get("visits", ())}
        stops = tuple(StopText(place=stop.place, text=stop.text) for stop in read.stops if stop.place in ids)
        guide[read.day] = DayGuide(
            day=read.day, language=read.language, intro=read.intro, stops=stops, notes=tuple(read.notes)
        )
    return [guide[day] for day in sorted(guide)]


def _with(draft: Drafted, guide: Sequence[DayGuide]) -> Drafted:
    rows = [day.model_dump(mode="json") for day in guide]
    return Drafted(plan={**(draft.plan or {}), "guide": rows}, words=draft.words)
