"""From planned trips to a report on which planner's are preferred: job, export, pairs, verdicts."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon_service.cli.main import main


def command(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    assert isinstance(end.value.code, int)
    return end.value.code


def run(folder: Path, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """The report of a job that is run from a spec."""
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    out = folder / name
    told = ("--out", str(out), "--data-dir", str(folder / "data"), "--workers", "1")
    assert command("run", str(folder / f"{name}.yaml"), *told) == 0
    report: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return report


def test_trips_of_a_job_are_judged_in_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planners: dict[str, Any] = {
        "benchmark": "itinerary",
        "select": {"tasks": ["city-day"], "limit": 2},
        "models": [{"id": "reference"}],
        "arms": [
            {"name": "ordered", "agent": "planner", "tools": ["order_visits", "travel_table", "find_place"]},
            {"name": "planned", "agent": "planner", "tools": ["plan_trip", "find_place"]},
        ],
    }
    planned = run(tmp_path, "trips", planners)
    assert any(row["measure"] == "quality_direct_route" for row in planned["measures"])
    data = ("--data-dir", str(tmp_path / "data"))
    plans = tmp_path / "plans"
    assert command("export", planned["job"]["id"], "--format", "plans", "--out", str(plans), *data) == 0
    lines = [json.loads(line) for line in (plans / "plans.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["by"] for line in lines} == {"reference, ordered", "reference, planned"}
    for number, line in enumerate(lines):  # so that no two plans are alike, whatever was planned
        for visit in line["plan"]["days"][0]["visits"]:
            visit["why"] = str(number)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (plans / "plans.jsonl").write_text(text, encoding="utf-8")
    judged: dict[str, Any] = {
        "benchmark": "plan-pairs",
        "data": str(plans),
        "models": [{"id": "scripted", "options": {"replies": ["Answer: B"]}}],
        "arms": [{"name": "plans", "agent": "direct"}],
    }
    [judge] = run(tmp_path, "pairs", judged)["pair_judges"]
    assert (judge["verdicts"], judge["both_orders"]) == (4, 2)
    assert (judge["flipped"], judge["for_first"], judge["kept_second"]) == (1.0, 0.0, 2)
    assert {row["share"] for row in judge["planners"]} == {0.5}
    capsys.readouterr()
    job = json.loads((tmp_path / "pairs" / "report.json").read_text(encoding="utf-8"))["job"]["id"]
    assert command("export", job, "--format", "plans", "--out", str(tmp_path / "none"), *data) == 2
    assert "holds no planned trip" in capsys.readouterr().err
    assert not (tmp_path / "none" / "plans.jsonl").exists()
