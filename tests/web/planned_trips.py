"""Trips of a site whose plan is there at once: one that holds, and one that fails."""

import json
from typing import Any

import httpx

from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.service.requests import trial_of
from tests.service.play import finish_all
from tests.web.conftest import Site

REQUEST: dict[str, Any] = {
    "area": "helsinki",
    "start_date": "2026-06-11",
    "days": 2,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma"],
    "window": {"start": "09:00", "end": "21:00"},
    "meals": [{"end": "15:00"}],
}
KIASMA, ATENEUM = "helsinki/w8042215", "helsinki/w8033120"
LUNCH, OTHER_LUNCH = "helsinki/n4749101640", "helsinki/n4749101648"


def planned_trip(site: Site, *, ateneum: tuple[str, str] = ("14:00", "15:30")) -> str:
    """The id of a trip of two days; Ateneum, which closes at 18:00, is visited from and until then."""
    days = [
        [(KIASMA, "10:10", "11:40"), (LUNCH, "12:00", "13:00")],
        [(OTHER_LUNCH, "12:00", "13:00"), (ATENEUM, *ateneum)],
    ]
    keys = ("place", "arrive", "leave")
    draft = {"days": [{"visits": [dict(zip(keys, visit, strict=True)) for visit in day]} for day in days]}
    scored = score(request_task(REQUEST), json.dumps(draft))
    job = site.store.job(httpx.post(f"{site.url}/v1/itineraries", json=REQUEST, timeout=60).json()["id"])
    finish_all(site.store, job.id, answer=scored.answer, score=scored.value, metrics=scored.metrics)
    return trial_of(job.id, job.spec)
