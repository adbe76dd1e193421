"""VIR-Bench and EscherVerse, from published files to the report, under raw and tools."""

import base64
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon_published.benchmarks.vir_bench.journey import journey_from_json
from gnomon_workers.store.store import Store
from tests.published_graphs import KANSAI, publish_escher, publish_vir

Gnomon = Callable[..., "subprocess.CompletedProcess[str]"]
RunJob = Callable[[dict[str, Any]], dict[str, Any]]
ASKS = {"tool_calls": [{"name": "municipality_of", "arguments": {"name": "Namba Station"}}]}
LOOKS = {"tool_calls": [{"name": "look_at_frame", "arguments": {"time_s": 0.5}}]}
GOLD = json.dumps({"edges": journey_from_json(KANSAI).gold_edges()})
HALF = json.dumps({"edges": journey_from_json(KANSAI).gold_edges()[:6]})


ARMS = {
    "arms": [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": "all"},
        {"name": "blind", "agent": "direct", "show": []},
    ],
    "analysis": {"primary": ["raw", "tools"]},
}


def run(run_gnomon: Gnomon, tmp_path: Path, spec: dict[str, Any]) -> dict[str, Any]:
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump({**ARMS, **spec}))
    words = ["run", str(path), "--json", "--workers", "1", "--out", str(tmp_path / "out")]
    done = run_gnomon(*words, "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def rows_of(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "out" / "rows.ndjson").read_text().splitlines()]


def test_a_vir_job_runs_with_the_gazetteer_and_draws_its_graphs(tmp_path: Path, run_gnomon: Gnomon) -> None:
    rules = [
        {"contains": "list every location", "replies": ['{"prefectures": ["Osaka", "Tokyo"]}']},
        {"tools": True, "replies": [ASKS, GOLD]},
        {"contains": "", "replies": [HALF]},
    ]
    report = run(
        run_gnomon,
        tmp_path,
        {
            "benchmark": "vir-bench",
            "data": str(publish_vir(tmp_path / "published")),
            "scoring": "official",
            "protocol": "official",
            "select": {"scenes": ["test", "validation"]},
            "models": [{"id": "scripted", "options": {"rules": rules}}],
        },
    )
    assert {arm["arm"]: arm["n"] for arm in report["arms"]} == {"raw": 4, "tools": 4, "blind": 4}
    scores = {(row["sample_id"], row["arm"]): row["score"] for row in rows_of(tmp_path)}
    assert scores["kansai_01.edge", "tools"] == 1.0
    assert 0.5 < scores["kansai_01.edge", "raw"] < 1.0
    assert scores["kanto-02.edge", "tools"] == 0.0
    used = [row for row in rows_of(tmp_path) if row["tool_calls"]]
    assert {row["sample_id"] for row in used} == {"kansai_01.edge", "kanto-02.edge"}
    assert all(row["tool_errors"] == 0 for row in used)
    assert report["published"][0]["by_task"]["node"] == pytest.approx(0.146)

    drawn = {one["sample_id"]: one["figures"] for one in report["exhibits"]}
    assert next(iter(drawn)) == "kansai_01.edge"
    assert set(drawn) == {"kansai_01.edge", "kanto-02.edge", "kansai_01.node", "kanto-02.node"}
    captions = {(figure["arm"], figure["caption"]) for figure in drawn["kansai_01.edge"]}
    assert ("tools", "Gold: 11 of 11 edges found") in captions
    assert ("raw", "Model: 6 edges, 0 of them wrong") in captions
    assert drawn["kansai_01.node"][1]["caption"] == "Model: 2 locations, 1 of them wrong"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    pictures = [base64.b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)\"", page)]
    assert len(pictures) == sum(map(len, drawn.values()))
    assert any("Glico Running Man Sign" in picture for picture in pictures)


def test_an_escher_job_runs_under_the_evaluator_that_was_asked_for(
    tmp_path: Path, run_job: RunJob, store: Store
) -> None:
    rules = [
        {"contains": "cup after the turn", "tools": True, "replies": [LOOKS, "<answer>B</answer>"]},
        {"contains": "cup after the turn", "replies": ["The answer is B"]},
    ]
    rest = ["<answer>True</answer>"]
    report = run_job(
        {
            **ARMS,
            "benchmark": "escherverse",
            "data": str(publish_escher(tmp_path / "published")),
            "scoring": "official",
            "variant": "v1",
            "protocol": "official",
            "models": [{"id": "scripted", "options": {"rules": rules, "replies": rest}}],
        },
    )
    assert {arm["arm"]: arm["n"] for arm in report["arms"]} == {"raw": 4, "tools": 4, "blind": 4}
    job_id = report["job"]["id"]
    scores = {(row.sample_id, row.arm): row.score for row in store.iter_rows(job_id)}
    assert (scores["11", "raw"], scores["11", "tools"]) == (0.0, 1.0)
    assert scores["13", "raw"] == 1.0
    assert report["published"][-1]["group"] == "human"
    assert "exhibits" in report
    assert not report["exhibits"]


def test_an_absent_clip_ends_as_missing_and_never_as_wrong(tmp_path: Path, run_job: RunJob) -> None:
    folder = publish_escher(tmp_path / "published")
    (folder / "videos" / "xyz_001_0_3.mp4").unlink()
    model = {"id": "scripted", "options": {"replies": ["<answer>B</answer>"]}}
    arms = [{"name": "raw", "agent": "direct"}, {"name": "blind", "agent": "direct", "show": []}]
    report = run_job({"benchmark": "escherverse", "data": str(folder), "models": [model], "arms": arms})
    trials = {arm["arm"]: arm["trials"] for arm in report["arms"]}
    assert (trials["raw"]["infra_missing"], trials["blind"]["infra_missing"]) == (2, 0)
