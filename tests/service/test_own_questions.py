"""Own questions from a file to the report, and over REST from the folders that may be read."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon_service.cli.main import main

Command = Callable[..., "subprocess.CompletedProcess[str]"]
RunJob = Callable[[dict[str, Any]], dict[str, Any]]
ROOT = Path(__file__).parents[2]
ARMS = [{"name": "raw", "agent": "direct"}]
SPEC: dict[str, Any] = {"benchmark": "questions", "models": [{"id": "reference"}], "arms": ARMS}


def test_the_example_runs_and_its_tools_answer_all_five_questions(
    tmp_path: Path, run_gnomon: Command
) -> None:
    words = ["run", "examples/questions.yaml", "--json", "--workers", "1", "--out", str(tmp_path / "out")]
    done = run_gnomon(*words, "--data-dir", str(tmp_path / "data"), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    means = {arm["arm"]: arm["mean"] for arm in report["arms"]}
    assert means["tools"] == 1.0
    assert means["raw"] < 0.5
    assert {cell for arm in report["arms"] for cell in arm["by_task"]} == {"distance", "direction", "view"}
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.ndjson").read_text().splitlines()]
    answers = {row["sample_id"]: row["answer"] for row in rows if row["arm"] == "tools"}
    assert answers["square"] == '["c1", "c2"]'
    assert answers["old-town"] == "640 m"
    assert all("error" in row["metrics"] for row in rows if row["task"] == "distance")


def test_tools_that_fit_no_question_are_told_before_and_after(
    tmp_path: Path, run_in_process: Command, run_job: RunJob
) -> None:
    (tmp_path / "mine.csv").write_text("question,answer\nIs Oslo north of Rome?,yes\n")
    arms = [
        {"name": "some", "agent": "react", "tools": ["list_cameras", "measure_motion"]},
        {"name": "none", "agent": "react", "tools": ["cameras_seeing"]},
    ]
    spec = {**SPEC, "data": "mine.csv", "arms": [*ARMS, *arms]}
    (tmp_path / "job.json").write_text(json.dumps(spec))
    plan = json.loads(run_in_process("plan", "job.json", "--json", cwd=tmp_path).stdout)
    unfit = "fit none of 1 sample looked at"
    assert plan["warnings"] == [
        f"arm some: 1 of 2 tools {unfit}: list_cameras",
        f"arm none: 1 of 1 tool {unfit}, which it asks as an arm without tools: cameras_seeing",
    ]
    raw, some, none = plan["arms"]
    assert none["prompt_tokens"] == raw["prompt_tokens"] < some["prompt_tokens"]
    report = run_job({**spec, "data": str(tmp_path / "mine.csv")})
    offered = {tool["tool"]: tool["offered"] for tool in report["tools"]}
    assert offered["measure_motion"] is True
    assert offered["cameras_seeing"] is False


def test_a_judge_scores_and_is_held_against_labels(tmp_path: Path, run_job: RunJob) -> None:
    replies = {"Ships": ("Boats.", 1), "The mayor": ("The baker.", 0), "On Fridays": ("Never.", 0)}
    lines = [
        {"id": answer, "question": f"{answer}?", "answer": answer, "reply": reply, "label": label}
        for answer, (reply, label) in replies.items()
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    by_rule = [
        {"contains": "The baker.", "replies": ['{"right": 1}']},  # a mistake of the judge's
        {"contains": "<right_answer>\nThe mayor", "replies": ["I cannot say."]},
        {"contains": "Never.", "replies": ['{"right": 0}']},
    ]
    cost = {"prompt_tokens": 10, "completion_tokens": 1, "usd": 0.5}
    judge = {"id": "scripted-judge", "options": {"rules": by_rule, "replies": ['{"right": 1}'], **cost}}
    model = {"id": "scripted", "options": {"replies": ["Boats."], **cost}}
    spec = {
        **SPEC,
        "data": str(tmp_path / "mine.jsonl"),
        "scorer": "judge",
        "judge": judge,
        "models": [model],
    }
    spec["limits"] = {"usd": 100.0}
    report = run_job(spec)
    assert report["denominators"]["trials"]["infra_missing"] == 1
    found = report["judge"]
    assert (found["judged"], found["unjudged"]) == (2, {"judge:unreadable": 1})
    assert (found["labelled"], found["right_of_right"], found["wrong_of_wrong"]) == (2, [1, 1], [1, 1])
    assert found["usd"] == 0.5 * 6  # two verdicts, two labelled replies, two replies that held no verdict
    assert report["cost"]["usd"] == 0.5 * 3  # what the arm cost is the subject's alone


def test_over_rest_files_below_the_media_roots_are_asked_and_their_faults_told(
    tmp_path: Path, open_api: Callable[..., TestClient]
) -> None:
    root = tmp_path / "root"
    shutil.copytree(ROOT / "examples" / "questions", root / "five")
    (root / "bad.jsonl").write_text('{"question": "Q", "answer": "a", "images": "../outside.png"}\n{}')
    shutil.copy(ROOT / "examples" / "questions" / "park.png", tmp_path / "outside.png")
    (tmp_path / "outside.jsonl").write_text('{"question": "Q", "answer": "a"}')
    api = open_api(GNOMON_MEDIA_ROOTS=str(root))
    accepted = api.post("/v1/jobs", json={**SPEC, "data": "five/questions.jsonl"})
    assert accepted.status_code == 202, accepted.text
    assert accepted.json()["planned_trials"] == 5
    refused = api.post("/v1/jobs", json={**SPEC, "data": "bad.jsonl"})
    assert refused.status_code == 422
    problem = refused.json()
    assert problem["field"] == "data"
    assert "line 1: images: no file" in problem["detail"]
    assert "line 2: question: is missing or empty" in problem["detail"]
    assert str(tmp_path) not in refused.text
    outside = api.post("/v1/jobs", json={**SPEC, "data": str(tmp_path / "outside.jsonl")})
    assert outside.json()["field"] == "data"


def test_the_command_line_tells_each_fault_on_a_line_of_its_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": "Q"}\n{"answer": "a"}\n')
    with pytest.raises(SystemExit) as end:
        main(["audit", "--benchmark", "questions", "--data", str(tmp_path)])
    assert end.value.code == 2
    lines = capfd.readouterr().err.splitlines()
    begin = next(at for at, line in enumerate(lines) if "2 faults in 2 of 2 lines" in line)
    assert lines[begin + 1 :] == [
        "  line 1: answer: is missing or empty",
        "  line 2: question: is missing or empty",
    ]


def test_audit_and_score_take_what_a_file_calls_its_columns_and_a_scorer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.csv").write_text("prompt,answer\nHow far?,5 m\n")
    command = ["audit", "--benchmark", "questions", "--data", str(tmp_path / "q.csv"), "--json"]
    with pytest.raises(SystemExit) as end:
        main([*command, "--columns", "question=prompt", "--scorer", '{"number": {"unit": "m"}}'])
    assert end.value.code == 0
    assert json.loads(capfd.readouterr().out)["samples"]["by_cell"] == {"question": 1}
    with pytest.raises(SystemExit):
        main([*command, "--columns", "prompt"])
    assert "'prompt' is not of the form OURS=THEIRS" in capfd.readouterr().err


TWICE = [
    {
        "id": f"q{at}",
        "question": f"Which way is the tower after {at} m?",
        "options": ["left", "right"],
        "answer": "A",
    }
    for at in range(6)
]


def twice(folder: Path, **change: Any) -> str:
    """A file in which q0 is asked again as q9, in other words that mean nothing."""
    again = {**TWICE[0], "id": "q9", "question": "which way is the TOWER after 0 m? Please answer.", **change}
    (folder / "twice.jsonl").write_text("\n".join(map(json.dumps, [*TWICE, again])))
    return str(folder / "twice.jsonl")


def test_a_question_that_is_asked_twice_is_told_and_counts_once(
    tmp_path: Path, run_in_process: Command, run_gnomon: Command
) -> None:
    said = "2 of 7 questions are near-equal to another (1 group): each group counts as one cluster: q0 = q9"
    spec = {**SPEC, "arms": [*ARMS, {"name": "again", "agent": "direct"}], "data": twice(tmp_path)}
    (tmp_path / "job.json").write_text(json.dumps(spec))
    plan = json.loads(run_in_process("plan", "job.json", "--json", cwd=tmp_path).stdout)
    assert plan["warnings"] == [said]
    assert (plan["samples"], plan["clusters"]) == (7, 6)
    done = run_gnomon("run", "job.json", "--json", "--workers", "1", "--out", "out", cwd=tmp_path)
    assert f"warning: {said}" in done.stderr
    report = json.loads(done.stdout)
    assert [each["text"] for each in report["alerts"] if each["kind"] == "near_equal"] == [
        f"{said}. Keep one question of each group, and ask others for more clusters."
    ]
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.ndjson").read_text().splitlines()]
    clusters = {row["sample_id"]: row["cluster"] for row in rows}
    assert clusters["q0"] == clusters["q9"]
    assert len(set(clusters.values())) == 6


def test_samples_in_one_cluster_are_told_before_anything_is_spent(
    tmp_path: Path, open_api: Callable[..., TestClient]
) -> None:
    arms = [*ARMS, {"name": "again", "agent": "direct"}]
    spec = {**SPEC, "arms": arms, "data": str(tmp_path / "mine.jsonl")}
    api = open_api(GNOMON_MEDIA_ROOTS=str(tmp_path))
    said = []
    for last in ("one room", "another"):
        rows = [{**row, "cluster": "one room"} for row in TWICE[:-1]]
        rows.append({**TWICE[-1], "cluster": last})
        (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
        said.append(api.post("/v1/jobs", json=spec).json()["warnings"])
    assert said[0][0].startswith(
        f"all {len(TWICE)} samples lie in one cluster, so no difference can be claimed"
    )
    assert said[1] == []


def test_columns_that_nothing_reads_are_named_before_anything_is_spent(
    tmp_path: Path, open_api: Callable[..., TestClient]
) -> None:
    (tmp_path / "mine.csv").write_text("question,answer,picture\nWhere?,left,1.png\nWho?,I,2.png\n")
    spec = {**SPEC, "data": str(tmp_path / "mine.csv")}
    posted = open_api(GNOMON_MEDIA_ROOTS=str(tmp_path)).post("/v1/jobs", json=spec).json()
    assert "columns of the file that nothing reads: picture" in posted["warnings"][0]


def test_questions_that_contradict_each_other_are_refused_by_their_ids(
    tmp_path: Path, open_api: Callable[..., TestClient], run_in_process: Command
) -> None:
    api = open_api(GNOMON_MEDIA_ROOTS=str(tmp_path))
    accepted = api.post("/v1/jobs", json={**SPEC, "data": twice(tmp_path, cluster="mine")})
    assert "q0 = q9" in accepted.json()["warnings"][0]
    options = {"options": ["right", "left"], "answer": "B"}  # the same in another order
    assert api.post("/v1/jobs", json={**SPEC, "data": twice(tmp_path, **options)}).status_code == 202
    spec = {**SPEC, "data": twice(tmp_path, answer="B")}
    refused = api.post("/v1/jobs", json=spec)
    assert refused.status_code == 422
    assert refused.json()["field"] == "data"
    assert "ask the same have different answers: 'q0' and 'q9'" in refused.json()["detail"]
    (tmp_path / "job.json").write_text(json.dumps(spec))
    for command in ("plan", "run"):
        done = run_in_process(command, "job.json", cwd=tmp_path)
        assert done.returncode == 2
        assert "'q0' and 'q9'" in done.stderr


def test_two_factors_are_named_in_the_spec_and_told_everywhere(
    tmp_path: Path, open_api: Callable[..., TestClient], run_in_process: Command
) -> None:
    lines = [{**row, "place": f"p{at % 3}", "form": f"f{at // 3}"} for at, row in enumerate(TWICE)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    spec = {**SPEC, "data": str(tmp_path / "mine.jsonl"), "columns": {"cluster": ["place", "form"]}}
    api = open_api(GNOMON_MEDIA_ROOTS=str(tmp_path))
    accepted = api.post("/v1/jobs", json=spec)
    assert accepted.status_code == 202, accepted.text
    assert accepted.json()["warnings"][0].startswith("samples are kin by 2 factors, in 3 and 2 clusters")
    job = accepted.json()["id"]
    assert api.get(f"/v1/jobs/{job}").json()["spec"]["columns"] == {"cluster": ["place", "form"]}
    shown = api.get(f"/ui/jobs/{job}/samples/q4", headers={"accept": "text/html"}).text
    assert "cluster</span> p1 × f1" in shown
    (tmp_path / "job.json").write_text(json.dumps(spec))
    assert json.loads(run_in_process("plan", "job.json", "--json", cwd=tmp_path).stdout)["clusters"] == 2
    early = {**spec, "arms": [*ARMS, {"name": "b", "agent": "direct"}], "analysis": {"sequential": True}}
    early["analysis"]["primary"] = ["raw", "b"]
    refused = api.post("/v1/jobs", json=early)
    assert refused.json()["field"] == "analysis.sequential"
    assert "clusters of several factors" in refused.json()["detail"]
