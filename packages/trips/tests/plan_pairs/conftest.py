"""Two plans of one request, of an early end and of a short walk, as the command line writes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon_trips.benchmarks.itinerary.brief import request_task
from gnomon_trips.benchmarks.itinerary.scoring import score
from gnomon_trips.export.result import result_of
from gnomon_trips.itinerary.planning import find_plan
from gnomon_trips.itinerary.provider import answered

REQUEST: dict[str, Any] = {
    "id": "day",
    "area": "helsinki",
    "start_date": "2026-06-10",
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex"],
    "wishes": ["park"],
    "meals": [{"name": "lunch"}],
    "preferences": {"diet": ["vegetarian"]},
}


def record(prefer: str, **changes: Any) -> dict[str, Any]:
    """A planned trip as `--out trip.json` writes it."""
    task = request_task({**REQUEST, "prefer": prefer, **changes})
    found = answered(find_plan(task.trip, seconds=5), is_local=True)
    answer = score(task, found.draft.model_dump_json(exclude_defaults=True)).answer
    return result_of(answer).as_json()


@pytest.fixture(scope="session")
def records() -> dict[str, dict[str, Any]]:
    return {prefer: record(prefer) for prefer in ("early_end", "short_walk")}


@pytest.fixture
def folder(records: dict[str, dict[str, Any]], tmp_path: Path) -> Path:
    for name, plan in records.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(plan), encoding="utf-8")
    return tmp_path
