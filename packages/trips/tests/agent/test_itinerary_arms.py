"""The example's arms on generated trips: names alone hardly do, facts or tools suffice."""

from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import HEURISTIC_PREFIX
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from gnomon.spec.spec_file import load_yaml
from gnomon_trips.benchmarks.itinerary.task import FAMILIES
from packages.trips.tests.agent.trial_rows import rows_of

EXAMPLE = Path(__file__).parents[4] / "examples" / "itinerary.yaml"


@pytest.fixture(scope="module")
def spec() -> JobSpec:
    given: Any = load_yaml(EXAMPLE.read_text())
    # One of each family but the longest, which the arms of `planning_help` are tried on.
    families = [family for family in FAMILIES if family != "two-day"]
    select = {"limit": len(families), "seed": 0, "tasks": families}
    return parse_spec({**given, "select": select}, agents=AGENTS.names())


@pytest.fixture(scope="module")
def rows(spec: JobSpec, tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    media = MediaStore(tmp_path_factory.mktemp("media"))
    return rows_of(spec, media)


def mean(rows: list[Row], arm: str) -> float:
    scores = [row.score or 0.0 for row in rows if row.arm == arm]
    return sum(scores) / len(scores)


def test_facts_and_tools_suffice_and_names_alone_do_not(rows: list[Row]) -> None:
    assert mean(rows, "raw") < 0.5
    assert {arm: mean(rows, arm) for arm in ("facts", "tools", "feedback", "scheduler")} == {
        "facts": 1.0,
        "tools": 1.0,
        "feedback": 1.0,
        "scheduler": 1.0,
    }
    assert {row.outcome for row in rows} == {Outcome.SCORED}


def test_refusals_are_counted_for_precision_and_recall(rows: list[Row]) -> None:
    told = [row for row in rows if row.arm == "tools"]
    precision = [found for row in told if (found := row.metrics.get("refusal_precision")) is not None]
    recall = [found for row in told if (found := row.metrics.get("refusal_recall")) is not None]
    assert precision == recall == [1.0]


def test_floors_and_ceiling_stand_beside_every_result(rows: list[Row]) -> None:
    for row in rows:
        assert row.metrics[f"{HEURISTIC_PREFIX}exact search (ceiling)"] == 1.0
        if row.task in ("city-day", "must-refuse", "change-request"):
            rules = {"random", "nearest neighbour", "earliest closing", "always refuse"}
            assert {f"{HEURISTIC_PREFIX}{rule}" for rule in rules} <= row.metrics.keys()
            assert row.metrics[f"{HEURISTIC_PREFIX}always refuse"] == float(row.task == "must-refuse")
