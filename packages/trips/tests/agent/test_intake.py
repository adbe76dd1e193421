"""Free words and films become a request by a model's help; what the traveller gave in fields holds."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.core.select import Select
from gnomon.core.trace import Trace
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.models.catalog import open_model
from gnomon_trips.service.requests import SAMPLE, TOOLS, spec_of
from packages.trips.tests.itinerary.fake_services import fake_service
from tests.numbered import write_clip

WORDS = "A Wednesday in June in Helsinki: Kiasma, Ateneum, and not far from the Torni."
GIVEN = {"text": WORDS, "start_date": "2026-06-10", "max_walk_m": 4000}
READ = {"request": {"area": "helsinki", "hotel": "Hotelli Torni", "places": ["Kiasma", "Ateneum"]}}
VISITS = [{"place": name, "arrive": "09:00", "leave": "09:10"} for name in ("Kiasma", "Ateneum")]
DRAFT = {"days": [{"visits": VISITS}]}


async def planned(tmp_path: Path, request: dict[str, Any], *replies: Any) -> tuple[Row, Trace]:
    texts = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    given = spec_of(request, {"id": "scripted", "options": {"replies": texts}})
    spec = parse_spec(given, agents=AGENTS.names())
    media = MediaStore(tmp_path / "media")
    data = Path(spec.data) if spec.data else None
    samples = spec.plugin().open(data=data, select=spec.select, protocol="guarded", media=media)
    return await run_trial(
        next(iter(expand_trials("j", spec, samples.refs))),
        bench=JobContext(spec=spec, benchmark=spec.plugin(), media=media),
        sample=lambda: samples.get(SAMPLE),
        agent=AGENTS.get("planner"),
        model=open_model(spec.models[0], media),
    )


async def test_free_words_are_put_into_fields_and_planned(tmp_path: Path) -> None:
    row, trace = await planned(tmp_path, GIVEN, READ, DRAFT)
    assert (row.score, row.flags) == (1.0, ())
    told = json.loads(row.answer or "")
    assert told["request"]["places"] == ["Kiasma", "Ateneum"]
    assert WORDS in str(trace.prompt)
    assert {step.name for step in trace.tool_steps} <= set(TOOLS)


async def test_fields_that_were_given_hold_whatever_the_model_reads(tmp_path: Path) -> None:
    lax = {"request": {**READ["request"], "max_walk_m": 90_000, "start_date": "2026-06-08"}}
    row, _ = await planned(tmp_path, {**GIVEN, "max_walk_m": 100}, lax, DRAFT)
    told = json.loads(row.answer or "")
    assert told["request"]["start_date"] == "2026-06-10"
    assert (told["plan"]["status"], told["plan"]["conflict"]) == ("refused", ["max_walk_m"])


async def test_a_reading_with_faults_goes_back_with_what_is_wrong(tmp_path: Path) -> None:
    early = {"request": {**READ["request"], "days": 0}}
    unknown = {"request": {**READ["request"], "places": ["Kiasma", "Athenaeum of Helsinki"]}}
    row, trace = await planned(tmp_path, GIVEN, "gladly!", early, READ, DRAFT)
    assert (row.score, len(trace.replies)) == (1.0, 4)
    row, trace = await planned(tmp_path, GIVEN, unknown, READ, DRAFT)
    assert (row.score, len(trace.replies)) == (1.0, 3)


async def test_a_place_that_stays_unknown_is_refused_by_name(tmp_path: Path) -> None:
    unknown = {"request": {**READ["request"], "places": ["Atlantis"]}}
    row, _ = await planned(tmp_path, GIVEN, unknown)
    assert json.loads(row.answer or "")["plan"]["conflict"] == ["place:Atlantis"]


async def test_words_that_nobody_understands_are_no_plan(tmp_path: Path) -> None:
    row, trace = await planned(tmp_path, GIVEN, "Helsinki is lovely in June.")
    assert (row.outcome, row.score, len(trace.replies)) == (Outcome.MODEL_FAILED, 0.0, 3)
    assert row.flags[0].startswith("not_understood")


async def test_places_seen_in_a_film_are_visited_in_the_order_of_its_frames(tmp_path: Path) -> None:
    film = write_clip(tmp_path / "walk.mp4", 40)
    request = {"film": str(film), "area": "helsinki", "start_date": "2026-06-10", "hotel": "Hotelli Torni"}
    seen = [
        {"name": "Ateneum", "from_s": 1, "to_s": 2},
        {"name": "Kiasma", "from_s": 0, "to_s": 1},
        {"name": "a street that nobody knows", "from_s": 2, "to_s": 3},
    ]
    row, trace = await planned(tmp_path, request, {"request": {"video": seen}}, DRAFT)
    assert row.score == 1.0
    made = json.loads(row.answer or "")["plan"]
    assert [visit["place"]["name"] for visit in made["days"][0]["visits"]] == ["Kiasma", "Ateneum"]
    assert [one["place"] for one in made["skipped"]] == ["a street that nobody knows"]
    blocks = trace.prompt[0]["content"]
    assert isinstance(blocks, list)
    assert sum(block["type"] == "image" for block in blocks) == 24


@pytest.mark.parametrize("field", ["text", "film"])
def test_the_built_in_reference_reads_neither_words_nor_films(field: str) -> None:
    with pytest.raises(SpecError, match="name a language model"):
        spec_of({field: "a day in Helsinki"})


@pytest.mark.parametrize(
    "request_",
    [{"text": ""}, {"text": 7}, {"text": "x" * 5000}, {"text": "x", "days": 0}, {"text": "x", "sky": 1}],
)
def test_a_brief_is_checked_before_anything_is_asked(request_: dict[str, Any], tmp_path: Path) -> None:
    benchmark = BENCHMARKS.get("itinerary")
    with pytest.raises(SpecError):
        benchmark.open(
            data=None, select=Select(request=request_), protocol="guarded", media=MediaStore(tmp_path)
        )


async def test_a_film_that_cannot_be_read_is_no_fault_of_the_model(tmp_path: Path) -> None:
    film = tmp_path / "no.mp4"
    film.write_bytes(b"no film")
    row, _ = await planned(tmp_path, {"film": str(film)}, "never asked")
    assert (row.outcome, row.stop_reason) == (Outcome.INFRA_MISSING, "data")


async def test_a_slow_service_does_not_hold_up_other_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_service() as service:
        service.mood = "slow"
        monkeypatch.setenv("GNOMON_NOMINATIM_URL", service.url)
        request = {"area": "helsinki", "start_date": "2026-06-10", "places": ["Kiasma"]}
        waiting = asyncio.create_task(planned(tmp_path, request, {"days": []}))
        beats = 0
        while beats < 10 and not waiting.done():
            await asyncio.sleep(0.01)
            beats += bool(service.asked)
    row, _ = await waiting  # with the service gone the extract answers
    assert (beats, row.outcome) == (10, Outcome.SCORED)
    told = json.loads(row.answer or "")
    assert told["verified_by"] == "helsinki osm 2019-04-21"
    assert told["plan"]["days"][0]["visits"][0]["evidence"][0] == told["verified_by"]
