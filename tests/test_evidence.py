"""The questions of `make evidence`: their truths hold by a second way, and our tools find them."""

import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from gnomon.core.agent import AGENTS
from gnomon.spec.rules import parse_spec
from gnomon.spec.spec_file import read_spec
from scripts import evidence

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "evidence" / "write_questions.py"


@pytest.fixture(scope="module", params=[1, 2])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evidence")
    subprocess.run([sys.executable, SCRIPT, "--seed", str(request.param), "--out", out], check=True)
    return out


def questions(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 40
    return [json.loads(line) for line in lines]


def test_clock_times_hold_in_summer_and_in_winter(folder: Path) -> None:
    asked = re.compile(r"When it is (\d\d):(\d\d) in (\S+), what time is it in (\S+) \(24-hour")
    for question in questions(folder, "time-zones"):
        found = asked.match(question["question"])
        assert found is not None
        hour, minute, start, end = found.groups()
        for month in (1, 7):
            time = datetime(2027, month, 1, int(hour), int(minute), tzinfo=ZoneInfo(start))
            assert f"{time.astimezone(ZoneInfo(end)):%H:%M}" == question["answer"]


def test_distances_and_bearings_of_stations_hold_on_a_sphere(folder: Path) -> None:
    scene = json.loads((folder / "tokyo.geojson").read_text(encoding="utf-8"))
    at = {place["properties"]["name"]: place["geometry"]["coordinates"] for place in scene["features"]}
    for question in questions(folder, "stations"):
        start, end = re.findall(r"(?:from|to) ([\w-]+ Station)", question["question"])
        (lon, lat), (other_lon, other_lat) = at[start], at[end]
        east_m = math.radians(other_lon - lon) * math.cos(math.radians((lat + other_lat) / 2)) * 6_378_137
        north_m = math.radians(other_lat - lat) * 6_357_000
        if question["task"] == "distance":
            assert float(question["answer"]) == pytest.approx(math.hypot(east_m, north_m), rel=0.01)
        else:
            bearing_deg = math.degrees(math.atan2(east_m, north_m))
            assert (float(question["answer"]) - bearing_deg + 180) % 360 - 180 == pytest.approx(0, abs=0.5)


def test_both_jobs_ask_the_same_models_under_the_same_arms() -> None:
    time_zones, stations = (
        read_spec(ROOT / "examples" / "evidence" / f"{name}.yaml") for name in ("time-zones", "stations")
    )
    assert parse_spec(stations, agents=AGENTS.names()).analysis.primary == ("raw", "native")
    assert [arm["name"] for arm in stations["arms"]] == ["raw", "native", "text", "code", "placebo"]
    assert [{**arm, "tools": ...} for arm in time_zones["arms"]] == [
        {**arm, "tools": ...} for arm in stations["arms"]
    ]
    for field in ("models", "analysis", "limits", "concurrency"):
        assert time_zones[field] == stations[field]


def test_models_are_served_no_longer_than_until_sigterm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    serving = set[str]()

    @contextmanager
    def served(model: str) -> Iterator[None]:
        serving.add(model)
        try:
            yield
        finally:
            serving.remove(model)

    def stopped(*_: object) -> None:
        assert serving == set(evidence.PORTS)
        os.kill(os.getpid(), signal.SIGTERM)

    for name in ("install", "write_questions"):
        monkeypatch.setattr(evidence, name, lambda *_: None)
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    monkeypatch.setattr(evidence, "serving", served)
    monkeypatch.setattr(evidence, "ask", stopped)
    monkeypatch.setattr(sys, "argv", ["evidence"])
    with pytest.raises(KeyboardInterrupt):
        evidence.main()
    assert not serving
