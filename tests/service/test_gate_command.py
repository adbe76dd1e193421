"""`gnomon gate` over folders, files and jobs, with its exit codes."""

import json
import re
from pathlib import Path

import pytest
import yaml

from gnomon_service.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main([*args])
    return int(end.value.code or 0)


def rows(path: Path, scores: list[float], arm: str = "a") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"sample_id": f"s{at}", "arm": arm, "score": score, "answer": "x"} for at, score in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


HALF = [1.0, 0.0] * 100


def test_a_build_passes_or_fails_and_its_summary_is_added_to_a_file(here, capsys):
    base, new = rows(here / "base.jsonl", HALF), rows(here / "new.jsonl", [0.0] * 60 + HALF[60:])
    Path("summary.md").write_text("before\n")
    assert gnomon("gate", base, base) == 0
    assert "nothing changed" in capsys.readouterr().out
    assert gnomon("gate", base, new, "--margin", "0.03", "--summary", "summary.md") == 1
    assert "does not pass" in capsys.readouterr().out
    text = Path("summary.md").read_text()
    assert text.startswith("before\n## Gnomon gate: not passed")
    assert gnomon("gate", base, new, "--margin", "0.25", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passed"]
    assert report["pairs"][0]["margin"] == 0.25


def test_folders_jobs_and_their_arms_are_compared(here, capsys):
    rows(here / "one" / "rows.ndjson", HALF)
    rows(here / "two" / "rows.ndjson", HALF, arm="b")
    assert gnomon("gate", "one", "two") == 0
    assert gnomon("gate", "one:a", "two:b") == 0
    assert gnomon("import", "one/rows.ndjson") == 0
    job = re.search(r"\bj_\w+", capsys.readouterr().out)[0]
    assert gnomon("gate", job, "one") == 0
    assert gnomon("gate", f"{job}:a", "two:b") == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["one", "nowhere/rows.ndjson"], "NEW: there is no nowhere/rows.ndjson"),
        (["j_none", "one"], "BASE: "),
        (["one:b", "one"], "BASE: no arm 'b' in one; there are: a"),
        (["one", "one", "--margin", "3"], "--margin: 3.0 is no margin; allowed: more than 0 and less than 1"),
        (["empty", "one"], "BASE: empty has no rows.ndjson beside it"),
        (["one", "one", "--summary", "nowhere/summary.md"], "--summary: "),
        (["broken.jsonl", "one"], "line 1"),
    ],
)
def test_what_cannot_be_compared_ends_with_2_and_a_line(args, says, here, capsys):
    rows(here / "one" / "rows.ndjson", HALF)
    Path("empty").mkdir()
    Path("broken.jsonl").write_text("{\n")
    assert gnomon("gate", *args) == 2
    assert says in capsys.readouterr().err


def test_the_example_workflow_is_yaml_and_calls_the_gate():
    workflow = yaml.safe_load((EXAMPLES / "github-workflow.yml").read_text())
    steps = workflow["jobs"]["gate"]["steps"]
    assert any("gnomon gate baseline results" in step.get("run", "") for step in steps)
    assert {"actions/checkout@v4", "actions/cache/save@v4"} <= {step.get("uses") for step in steps}
