"""From planned trips to a report on which planner's are preferred: job, export, pairs, verdicts."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., "subprocess.CompletedProcess[str]"]
RunJob = Callable[[dict[str, Any]], dict[str, Any]]


def test_trips_of_a_job_are_judged_in_pairs(tmp_path: Path, run_job: RunJob, run_in_process: Command) -> None:
    data = ("--data-dir", str(tmp_path))
    planners: dict[str, Any] = {
        "benchmark": "itinerary",
        "select": {"tasks": ["city-day"], "limit": 1},
        "models": [{"id": "reference"}],
        "arms": [
            {"name": "ordered", "agent": "planner", "tools": ["order_visits", "travel_table", "find_place"]},
            {"name": "planned", "agent": "planner", "tools": ["plan_trip", "find_place"]},
        ],
    }
    planned = run_job(planners)
    assert any(row["measure"] == "quality_direct_route" for row in planned["measures"])
    plans = tmp_path / "plans"
    export = ("export", planned["job"]["id"], "--format", "plans", "--out", "plans")
    assert run_in_process(*export, *data, cwd=tmp_path).returncode == 0
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
    verdicts = run_job(judged)
    [judge] = verdicts["pair_judges"]
    assert (judge["verdicts"], judge["both_orders"]) == (2, 1)
    assert (judge["flipped"], judge["for_first"], judge["kept_second"]) == (1.0, 0.0, 1)
    assert {row["share"] for row in judge["planners"]} == {0.5}
    export = ("export", verdicts["job"]["id"], "--format", "plans", "--out", "none")
    refused = run_in_process(*export, *data, cwd=tmp_path)
    assert (refused.returncode, "holds no planned trip" in refused.stderr) == (2, True)
    assert not (tmp_path / "none" / "plans.jsonl").exists()
