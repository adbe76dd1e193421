"""`gnomon generate recordings`: a CityFlow folder to questions, and the questions to a report."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon_service.cli.main import main

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/tracking/cityflow"
COMMAND = ["generate", "recordings", str(FOLDER), "--from", "cityflow", "--fps", "5", "--limit", "28"]
ROADS = ["--scene", str(FOLDER / "roads.geojson")]


def run(*arguments: str, code: int = 0) -> None:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert (end.value.code or 0) == code


def test_a_folder_of_cityflow_becomes_questions_and_a_report(
    tmp_path: Path, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    def run_here(*words: str) -> str:
        ended = run_gnomon(*words, "--json", cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    report = json.loads(run_here(*COMMAND, "--limit", "14", *ROADS, "--out", "questions"))
    assert report["published"]["published"] >= 12
    assert all(counts["kept"] for counts in report["tasks"].values())
    assert all(count["of"] >= count["count"] for count in report["cleaning"])
    spec = {
        "benchmark": "gtr-bench",
        "data": "questions",
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
    }
    (tmp_path / "job.json").write_text(json.dumps(spec))
    said = run_here("run", "job.json", "--workers", "1", "--out", "report", "--data-dir", "data")
    arms = {arm["arm"]: arm for arm in json.loads(said)["arms"]}
    assert arms["tools"]["mean"] > arms["raw"]["mean"] + 0.2
    assert (tmp_path / "report" / "report.html").is_file()


def test_the_same_command_again_goes_on_and_writes_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = []
    for _ in range(2):
        run(*COMMAND, *ROADS, "--tasks", "GeoLocation,MotionState,GeoLocation", "--out", "questions")
        outputs.append(capfd.readouterr().out)
    assert outputs[0] == outputs[1]
    assert "14 GeoLocation" in outputs[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tasks", "Chess"], "no task 'Chess'"),
        (["--homographies", str(FOLDER / "roads.geojson")], "not with --from cityflow"),
        (["--scenario", "S09"], "holds no camera"),
    ],
)
def test_what_is_not_allowed_is_said_in_a_line(
    arguments: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(*COMMAND, *arguments, "--out", str(tmp_path / "questions"), code=2)
    error = capfd.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_clips_are_linked_where_the_prompt_looks_for_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    monkeypatch.chdir(tmp_path)
    shutil.copytree(FOLDER, tmp_path / "in")
    for camera in (tmp_path / "in/S01").iterdir():
        (camera / "vdo.avi").write_bytes(b"no film")
    run("generate", "recordings", "in", "--from", "cityflow", "--fps", "5", "--limit", "7", "--clips",
        "--out", "questions", "--json")  # fmt: skip
    capfd.readouterr()
    cases = [
        case
        for path in (tmp_path / "questions/data/outdoor").glob("*.json")
        for case in json.loads(path.read_text())["cases"]
    ]
    paths = {clip["video_path"] for case in cases for clip in case["camera_images"]}
    assert paths
    assert all((tmp_path / "questions" / path).read_bytes() == b"no film" for path in paths)
