"""Generated trips: their truth holds, chance fails, faults are found, refusals are proven."""

import copy
import itertools
import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import DataError, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_conformance import checks
from gnomon_trips.benchmarks.itinerary.benchmark import itinerary
from gnomon_trips.benchmarks.itinerary.brief import checked_request
from gnomon_trips.benchmarks.itinerary.generate import task_for
from gnomon_trips.benchmarks.itinerary.pool import pool_of
from gnomon_trips.benchmarks.itinerary.scoring import POLICIES, play, score
from gnomon_trips.benchmarks.itinerary.task import FAMILIES, Task, numbers
from gnomon_trips.itinerary.draft import plan_of, read_draft
from gnomon_trips.itinerary.osm.city import city_files
from gnomon_trips.itinerary.proof import is_conflict
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.schedule import rounds
from gnomon_trips.itinerary.solve import Problem, constraints
from gnomon_trips.itinerary.trip import Trip
from gnomon_trips.itinerary.verify.verify import verify_plan

SOME = 6


def tasks(
    family: str, count: int = SOME, *, seed: int = 0, city: str = "helsinki", folder: str | None = None
):
    return [task_for(one, folder) for one in numbers(seed, (family,), (city,), count)]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_task_has_an_answer_that_scores_one(family: str) -> None:
    for task in tasks(family, 1 if family == "two-day" else SOME):
        assert score(task, task.witness).value == 1.0, task.witness


def test_it_keeps_what_all_benchmarks_keep() -> None:
    for check in checks(itinerary):
        check()


@pytest.mark.parametrize("family", FAMILIES)
def test_no_answer_no_plan_and_a_false_refusal_score_less(family: str) -> None:
    for task in tasks(family, 2):
        assert score(task, "I would rather not say.").value == 0.0
        empty = {"status": "planned", "days": [], "order": [], "inclusions": [], "transitions": []}
        assert score(task, json.dumps(empty)).value == 0.0
        if task.problem is not None:
            refusal = {"status": "refused", "conflict": constraints(task.problem)}
            assert score(task, json.dumps(refusal)).value == float(family == "must-refuse")


def chance_of_an_order(problem: Problem, most: int) -> float | None:
    """The share of orders of a one-day trip that keep every constraint; None beyond 7 places.

    Of all orders, or of so many that are drawn.
    """
    day, count = problem.days()[0], len(problem.places)
    if count > 7 or problem.trip.request.days != 1:
        return None
    orders = list(itertools.permutations(range(count)))
    drawn = random.Random(1).sample(orders, min(most, len(orders)))
    chained = (replace(day, before=(*day.before, *itertools.pairwise(order))) for order in drawn)
    return sum((1 << count) - 1 in rounds(one) for one in chained) / len(drawn)


@pytest.mark.parametrize(("count", "orders"), [(12, 100), pytest.param(60, 5040, marks=pytest.mark.soak)])
def test_chance_and_thumb_rules_mostly_fail_where_exact_search_always_passes(count: int, orders: int) -> None:
    drawn = tasks("city-day", count)
    passed = {name: sum(score(task, play(name, task)).value == 1 for task in drawn) for name in POLICIES}
    assert passed["exact"] == count
    assert passed["random"] <= 0.15 * count
    assert passed["nearest_neighbour"] <= 0.5 * count
    assert passed["earliest_closing"] <= 0.2 * count
    shares = sorted(
        share
        for task in drawn[: count // 2]
        if task.problem and (share := chance_of_an_order(task.problem, orders)) is not None
    )
    assert shares[len(shares) // 2] < 0.10


def test_an_optimum_is_walked_and_nothing_shorter_passes() -> None:
    for task in tasks("city-day"):
        assert score(task, task.witness).metrics["regret"] == pytest.approx(0.0, abs=0.002)


def faulty(given: dict[str, Any], task: Task) -> dict[str, tuple[str, dict[str, Any]]]:
    """The plan with one fault each, and the code that names it."""

    def changed(change: Any) -> dict[str, Any]:
        plan = copy.deepcopy(given)
        change(plan["days"][0], plan)
        return plan

    def earlier(visit: dict[str, Any]) -> None:
        visit.update(arrive="00:10", leave="01:50")

    return {
        "dropped": ("MUST_VISIT", changed(lambda day, _: day["visits"].pop())),
        "made up": (
            "KNOWN_PLACE",
            changed(lambda day, _: day["visits"][0]["place"].update(id="helsinki/n0")),
        ),
        "renamed": ("NAME_MISMATCH", changed(lambda day, _: day["visits"][0]["place"].update(name="Xqzzw"))),
        "moved": ("COORD", changed(lambda day, _: day["visits"][0]["place"].update(lon=25.3))),
        "overlapping": ("OVERLAP", changed(lambda day, _: day["visits"][0].update(leave="23:50"))),
        "too short": (
            "DWELL",
            changed(lambda day, _: day["visits"][0].update(leave=day["visits"][0]["arrive"])),
        ),
        "too early": ("DAY_WINDOW", changed(lambda day, _: earlier(day["visits"][0]))),
        "wrong price": (
            "COST_CLAIM",
            changed(lambda day, _: day["visits"][0].update(cost={"amount": 987.0, "currency": "EUR"})),
        ),
        "wrong sum": ("SUM", changed(lambda _, plan: plan["totals"].update(metres=1))),
        "duplicate": ("DUPLICATE", changed(lambda day, _: day["visits"].append(day["visits"][0]))),
        "wrong home": ("HOME", changed(lambda day, _: day.update(start=day["visits"][0]["place"]))),
        "wrong claim": ("LEG_CLAIM", changed(lambda day, _: day["legs"][1].update(minutes=599))),
        "wrong date": ("DATE", changed(lambda day, _: day.update(date="2025-01-01"))),
        "backwards": ("ORDER", changed(lambda day, _: day["visits"].reverse())),
        "unit": ("UNITS", changed(lambda day, _: day["legs"][0].update(minutes=-4))),
    }


def test_planted_faults_are_caught_by_their_code_in_every_generated_plan() -> None:
    caught = planted = 0
    for task in tasks("city-day", 4):
        plan = answered(plan_of(read_draft(task.witness), task.trip), is_local=True)
        assert answered(verify_plan(plan, task.trip), is_local=True)[1].violations == ()
        for code, given in faulty(plan.model_dump(mode="json"), task).values():
            planted += 1
            caught += code in answered(verify_plan(given, task.trip), is_local=True)[1].failed
    assert (caught, planted) == (15 * 4, 15 * 4)


def test_a_trip_that_must_be_refused_has_a_proof_and_no_policy_plans_it() -> None:
    for task in tasks("must-refuse", SOME):
        assert task.problem is not None
        assert is_conflict(task.problem, task.truth["conflict"])
        for policy in ("random", "nearest_neighbour", "earliest_closing"):
            told = score(task, play(policy, task))
            assert told.value == 0.0
            assert "PLANNED_BUT_INFEASIBLE" in told.flags


def test_a_refusal_counts_when_what_it_names_rules_out_every_plan() -> None:
    task = tasks("must-refuse", 1)[0]
    right = score(task, task.witness)
    vague = score(task, '{"status": "refused", "conflict": ["the moon"]}')
    assert (right.value, right.metrics["conflict_proven"]) == (1.0, 1.0)
    assert (vague.value, vague.metrics["conflict_proven"]) == (0.0, 0.0)
    assert "refusal_unproven" in vague.flags


def test_a_rail_trip_has_one_order_also_with_times_a_tenth_off() -> None:
    import itertools

    for task in tasks("rail-trip"):
        minutes = task.facts["rail_minutes"]
        names, limit = task.facts["table_of"], task.trip.request.max_leg_min
        assert limit is not None
        last = len(names) - 1
        orders = [(0, *middle, last) for middle in itertools.permutations(range(1, last))]
        longest = [max(minutes[a][b] for a, b in itertools.pairwise(order)) for order in orders]
        for factor in (0.91, 1.0, 1.1):
            works = [order for order, hop in zip(orders, longest, strict=True) if factor * hop <= limit]
            assert [[names[index] for index in order] for order in works] == [list(task.truth["order"])]


def test_a_graph_is_scored_by_its_edges_and_twice_told_counts_once() -> None:
    task = tasks("graph", 1)[0]
    truth = json.loads(task.witness)
    half = {**truth, "transitions": []}
    doubled = {kind: edges * 2 for kind, edges in truth.items()}
    assert score(task, json.dumps(half)).value == pytest.approx(0.5)
    assert score(task, json.dumps(doubled)).value == 1.0


def test_a_change_breaks_the_old_plan() -> None:
    for task in tasks("change-request", 8):
        assert score(task, json.dumps(task.details["current_plan"])).value == 0.0


def test_what_only_the_scorer_may_know_reaches_no_tool(tmp_path: Path) -> None:
    samples = itinerary.open(
        data=None, select=Select(limit=6), protocol="guarded", media=MediaStore(tmp_path)
    )
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        assert sample.find(Trip) is not None
        assert sample.find(Trip).answerable is None
        text = json.dumps(sample.messages(("facts",)))
        assert "optimum" not in text
        assert sample.target["task"].witness not in text


def test_the_same_seed_gives_the_same_tasks_and_another_other_ones() -> None:
    def told(seed: int) -> list[str]:
        drawn = numbers(seed, FAMILIES, ("helsinki",), len(FAMILIES))
        return [task_for.__wrapped__(one).witness for one in drawn]

    first = told(5)
    assert first == told(5)
    assert first != told(6)


def test_the_families_come_from_any_extract_in_a_folder(geo_dir: Path) -> None:
    drawn = tasks("city-day", SOME, city="liechtenstein", folder=str(geo_dir))
    assert all(score(task, task.witness).value == 1.0 for task in drawn)
    select = Select(limit=12, tasks=("two-day", "city-day"))
    samples = itinerary.open(data=geo_dir, select=select, protocol="guarded", media=MediaStore(geo_dir))
    assert {ref.sample_id.rpartition("-")[2] for ref in samples.refs} == {"liechtenstein"}


def test_a_folder_without_extracts_and_a_request_that_is_none_are_refused(tmp_path: Path) -> None:
    media = MediaStore(tmp_path)
    with pytest.raises(DataError, match="holds no OpenStreetMap extract"):
        itinerary.open(data=tmp_path, select=Select(), protocol="guarded", media=media)
    for request, word in (
        ({"area": "helsinki"}, "start_date"),
        ({"area": "Atlantis", "start_date": "2026-06-10", "places": ["x"]}, "there are: helsinki"),
        ({"area": "helsinki", "start_date": "2026-06-10"}, "places"),
    ):
        with pytest.raises(SpecError, match=word):
            itinerary.open(data=None, select=Select(request=request), protocol="guarded", media=media)


def test_a_users_own_plan_is_scored_from_a_record() -> None:
    request = {"area": "helsinki", "start_date": "2026-06-10", "hotel": "Hotelli Torni", "places": ["Kiasma"]}
    good = {"days": [{"visits": [{"place": "Kiasma", "arrive": "11:00", "leave": "12:30"}]}]}
    late = {"days": [{"visits": [{"place": "Kiasma", "arrive": "18:00", "leave": "23:30"}]}]}
    assert (
        itinerary.score_record({"request": request, "response": json.dumps(good)}, scoring="strict").value
        == 1
    )
    told = itinerary.score_record({"request": request, "response": json.dumps(late)}, scoring="strict")
    assert told.value == 0
    assert set(told.flags) == {"DAY_WINDOW", "OPEN_HOURS"}


@pytest.mark.parametrize("beside", ["{broken", "[]", '{"title": 7}', '{"mayor": "x"}'])
def test_a_folder_whose_city_cannot_be_read_is_bad_data_and_no_crash(
    beside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(city_files([])["helsinki"], tmp_path / "town.osm.pbf")
    (tmp_path / "town.json").write_text(beside)
    (tmp_path / "junk.osm.pbf").write_bytes(b"junk")
    monkeypatch.setenv("GNOMON_CITIES", str(tmp_path))
    for area in ("town", "junk"):
        with pytest.raises(DataError, match=area):
            pool_of(area, str(tmp_path))
        with pytest.raises(DataError, match=area):
            checked_request({"area": area, "start_date": "2026-06-10", "places": ["Kiasma"]})
