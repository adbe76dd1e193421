"""`gnomon audit`: what it prints and how it ends."""

import json
import shutil
from pathlib import Path

import pytest

from gnomon_service.cli.main import main
from gnomon_worlds.generate import generate


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["audit", *args])
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions that no test changes."""
    folder = tmp_path_factory.mktemp("audited") / "questions"
    generate(folder, scenes=1, samples=14)
    return folder


def test_a_sound_benchmark_ends_with_0_and_prints_one_document(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon("--benchmark", "gtr-bench", "--data", str(data), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["benchmark"] == "gtr-bench"
    assert document["samples"]["n"] == 14
    assert document["surviving_leaks"] == []
    assert {row["view"] for row in document["shortcuts"]} == {"files", "official", "guarded"}
    assert all(row["applies"] <= row["n"] for row in document["shortcuts"])
    assert {row["cell"] for row in document["answer_positions"]} == set(document["samples"]["by_cell"])
    assert document["faults"]["counts"]["missing_media"] == 14


def test_one_of_a_kind_is_counted_in_the_singular(capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("--benchmark", "worlds", "--limit", "1") == 0
    said = capsys.readouterr().out
    assert said.startswith("worlds 1: 1 sample in 1 cell\n")
    assert "Leaks of a protocol" not in said
    assert "Found nowhere: " in said
    assert "No leak is seen" in said


def test_people_get_tables_and_a_verdict(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("--benchmark", "gtr-bench", "--data", str(data)) == 0
    said = capsys.readouterr().out
    for part in (
        "Leaks of a protocol",
        "Floors",
        "Where the right answer stands",
        "Faults",
        "No leak is seen",
    ):
        assert part in said


def test_worlds_need_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("--benchmark", "worlds", "--limit", "7", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["samples"]["n"] == 7
    assert document["options_unread"] == {"official": 0, "guarded": 0}


def test_a_leak_through_the_guard_ends_with_1(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leaky = shutil.copytree(data, tmp_path / "leaky")
    for path in leaky.glob("data/*/*.json"):
        given = json.loads(path.read_text())
        for case in given["cases"]:
            case["question"] += f" See {Path(case['map_image_path']).name} on the map."
        path.write_text(json.dumps(given))
    assert gnomon("--benchmark", "gtr-bench", "--data", str(leaky)) == 1
    assert "LEAKS SURVIVE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--benchmark", "nosuch"], "--benchmark: no benchmark 'nosuch'"),
        (["--benchmark", "gtr-bench"], "--data: gtr-bench needs"),
        (
            ["--benchmark", "gtr-bench", "--data", "nowhere"],
            "--data: nowhere holds no GTR-Bench questions",
        ),
        (["--benchmark", "worlds", "--data", "."], "--data: worlds are generated"),
        (["--benchmark", "worlds", "--limit", "0"], "--limit"),
        ([], "--benchmark"),
    ],
)
def test_bad_usage_is_one_line_and_2(
    args: list[str],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert gnomon(*args) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""


def test_only_questions_of_the_named_tasks_are_tried(capsys: pytest.CaptureFixture[str]) -> None:
    tasks = ("--tasks", "GeoLocation", "--tasks", "MotionState")
    assert gnomon("--benchmark", "worlds", *tasks, "--limit", "8", "--json") == 0
    cells = json.loads(capsys.readouterr().out)["samples"]["by_cell"]
    assert cells == {"outdoor.GL": 2, "indoor.GL": 2, "outdoor.MS": 2, "indoor.MS": 2}
    assert gnomon("--benchmark", "worlds", "--tasks", "Nowhere") == 2
    assert "--tasks: no 'Nowhere'; allowed: GeoLocation" in capsys.readouterr().err
