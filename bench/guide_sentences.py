"""Counts how the judge of guides judges sentences that are true, and the same with one lie each.

python -m bench.guide_sentences [--plans 40] [--seed 0]

Plans are drawn in Helsinki and Tokyo, their guides written by the rules of the reference in English and
Japanese: all of it is true. Each lie changes one number or name in one true sentence.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from agents.models.reference.guide import guide_of
from gnomon.benchmarks.itinerary.pool import pool_of
from tools.gazetteer.landmarks import landmarks
from tools.itinerary.draft import DraftGuide, DraftPlan, plan_of
from tools.itinerary.facts import facts_of
from tools.itinerary.guide_facts import guide_facts
from tools.itinerary.planning import find_plan
from tools.itinerary.provider import answered
from tools.itinerary.registry import provider_for
from tools.itinerary.request import TripRequest
from tools.itinerary.trip import open_trip
from tools.itinerary.verify.guide import Sentence, guide_sentences

Lie = Callable[[str, random.Random], str | None]


def _later(pattern: str) -> Lie:
    """A clock that a pattern names, two hours and seven minutes later."""

    def lie(text: str, _: random.Random) -> str | None:
        match = re.search(pattern, text)
        if match is None:
            return None
        minutes = (int(match[1]) * 60 + int(match[2]) + 127) % 1440
        clock = f"{minutes // 60:02d}:{minutes % 60:02d}"
        return f"{text[: match.start(1)]}{clock}{text[match.end(2) :]}"

    return lie


def _times(pattern: str, factor: int) -> Lie:
    """A number that a pattern names, so many times as much and some more."""

    def lie(text: str, _: random.Random) -> str | None:
        match = re.search(pattern, text)
        if match is None:
            return None
        return f"{text[: match.start(1)]}{round(float(match[1]) * factor + 40)}{text[match.end(1) :]}"

    return lie


LIES: dict[str, Lie] = {
    "arrival": _later(r"(?:arrive at |^)(\d\d):(\d\d)(?=に到着| and)"),
    "leaving": _later(r"(?:leave at |、)(\d\d):(\d\d)(?=\.|に出発)"),
    "hours": _later(r"(?:Open |営業時間は)(\d\d):(\d\d)"),
    "minutes": _times(r"(\d+)(?= min (?:on foot|by)|分、)", 3),
    "length": _times(r"([\d.]+)(?= km, from| m, from|mです)", 4),
    "sum": _times(r"(\d+)(?= m and|m、)", 3),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    true: Counter[str] = Counter()
    caught: Counter[tuple[str, str]] = Counter()
    for number in range(options.plans):
        for guide, judge in _drawn(chance, number):
            sentences = judge(guide)
            true.update(sentence.verdict for sentence in sentences)
            for sentence in sentences:
                for name, lie in LIES.items():
                    told = lie(sentence.text, chance)
                    if told is not None and told != sentence.text:
                        judged = judge([_with(day, sentence.text, told) for day in guide])
                        verdict = next((other.verdict for other in judged if other.text == told), "gone")
                        caught[name, verdict] += 1
    print("true sentences:", dict(true))
    for name in LIES:
        print(f"lies about {name}:", {verdict: n for (kind, verdict), n in caught.items() if kind == name})


Judge = Callable[[list[DraftGuide]], tuple[Sentence, ...]]


def _drawn(chance: random.Random, number: int) -> Iterator[tuple[list[DraftGuide], Judge]]:
    """A plan's guide in both languages, and a judge of guides of that plan."""
    if number % 2:
        tokyo = sorted(name for name, entry in landmarks().by_id.items() if entry.city == "Tokyo")
        request: dict[str, Any] = {
            "area": "japan",
            "mode": "rail",
            "days": 2,
            "places": chance.sample(tokyo, 4),
        }
    else:
        pool = pool_of("helsinki")
        request = {"area": "helsinki", "places": [place.id for place in chance.sample(pool.sights, 4)]}
        request["meals"] = [{"name": "lunch"}]
    request["start_date"] = f"2026-06-{chance.randint(1, 28):02d}"
    provider = provider_for(request["area"])
    trip = answered(open_trip(TripRequest.model_validate(request), provider), is_local=True)
    found = answered(find_plan(trip, seconds=3), is_local=True)
    if found.draft.status == "refused":
        return
    data = answered(guide_facts(found.draft, trip), is_local=True)

    def judge(guide: list[DraftGuide]) -> tuple[Sentence, ...]:
        rows = [day.model_dump() for day in guide]
        draft = DraftPlan.model_validate({**found.draft.model_dump(), "guide": rows})
        plan = answered(plan_of(draft, trip), is_local=True)
        return guide_sentences(plan, trip, answered(facts_of(trip, plan), is_local=True))

    for language in ("en", "ja"):
        written = guide_of({**data, "language": language})["guide"]
        yield [DraftGuide.model_validate({**day, "language": language}) for day in written], judge


def _with(day: DraftGuide, old: str, new: str) -> DraftGuide:
    """A day with one sentence replaced."""
    text = day.model_dump_json().replace(old, new, 1)
    return DraftGuide.model_validate_json(text)


if __name__ == "__main__":
    main()
