"""The five arms of `planning_help` run through the planner on both benchmarks, with one set of limits."""

from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from packages.trips.tests.agent.trial_rows import rows_of
from tests.published_trips import written

ARMS = ("question", "told", "fetched", "checked", "scheduled")


def spec_of(**fields: Any) -> JobSpec:
    base = {
        "name": "arms",
        "models": [{"id": "reference"}],
        "arms": {"preset": "planning_help", "agent": "planner"},
    }
    return parse_spec({**base, **fields}, agents=AGENTS.names())


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> MediaStore:
    return MediaStore(tmp_path_factory.mktemp("media"))


@pytest.mark.parametrize("benchmark", ["itinerary", "travelplanner"])
def test_arms_differ_in_what_is_shown_and_offered_alone(benchmark: str, tmp_path: Path) -> None:
    data = {"data": str(written(tmp_path))} if benchmark == "travelplanner" else {}
    spec = spec_of(benchmark=benchmark, **data)
    assert tuple(arm.name for arm in spec.arms) == ARMS
    assert {arm.agent for arm in spec.arms} == {"planner"}
    limits = {(arm.max_turns, arm.max_tool_calls, arm.max_tokens, arm.max_usd) for arm in spec.arms}
    assert len(limits) == 1
    assert [bool(arm.tools) for arm in spec.arms] == [False, False, True, True, True]


def test_trips_are_planned_in_all_five_arms(media: MediaStore) -> None:
    rows = rows_of(spec_of(benchmark="itinerary", select={"limit": 6, "seed": 0}), media, None)
    assert {row.outcome for row in rows} == {Outcome.SCORED}
    for arm in ARMS[1:]:
        assert [row.score for row in rows if row.arm == arm] == [1.0] * 6
    asked = {arm: sum(row.model_calls for row in rows if row.arm == arm) for arm in ARMS}
    assert (
        asked["question"] == asked["told"] == 6
    )  # without tools the graph asks once, as a direct agent does


def test_travelplanner_is_planned_in_all_five_arms(media: MediaStore, tmp_path: Path) -> None:
    data = written(tmp_path)
    rows = rows_of(spec_of(benchmark="travelplanner", data=str(data)), media, data)
    assert {row.arm for row in rows} == set(ARMS)
    assert {row.outcome for row in rows if row.arm != "question"} == {Outcome.SCORED}
    assert all(row.score == 1.0 for row in rows if row.arm == "scheduled")
