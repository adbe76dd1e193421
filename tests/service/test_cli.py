"""The command line: fast, silent on stdout but for results, and clear about what is wrong."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon_service.cli.main import COMMANDS, main
from tests.service.play import SPEC

ROOT = Path(__file__).parents[2]
HEAVY = ("litellm", "fastapi", "numpy", "shapely", "sqlalchemy", "redis", "rq", "pydantic", "rich", "httpx")


def gnomon(*args: str) -> int:
    """Run a command in this process; its exit code."""
    with pytest.raises(SystemExit) as end:
        main(list(args))
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_spec(**changes: Any) -> str:
        path = tmp_path / "spec.yaml"
        path.write_text(yaml.safe_dump({**SPEC, **changes}))
        return str(path)

    return write_spec


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['gnomon', '--help']\n"
        "from gnomon_service.cli.main import main\n"
        "try: main()\n"
        f"finally: sys.stderr.write(','.join(set({HEAVY!r}) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0
    assert done.stderr == ""
    for name in COMMANDS.names():
        assert name.rstrip("-") in done.stdout


def test_the_service_starts_without_agents_and_vendors() -> None:
    code = (
        "import sys, gnomon_service.api.app, gnomon_service.run_job, gnomon_service.serving\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'litellm', 'langgraph'}))\n"
        "print([m for m in sys.modules if m.startswith(('gnomon_agents.', 'gnomon_workers.shard'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["[]", "[]"]


def test_every_command_has_help_and_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    documented = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS.names():
        word = name.rstrip("-")
        assert gnomon(word, "--help") == 0
        assert "Usage: gnomon " + word in capsys.readouterr().out
        assert f"`gnomon {word} " in documented


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["fly"], "No such command 'fly'"),
        (["run"], "Missing argument 'SPEC'"),
        (["run", "nowhere.yaml"], "SPEC: nowhere.yaml cannot be read: No such file or directory\n"),
        (["run", "--speed", "9", "x"], "No such option"),
        (["score"], "--benchmark"),
        (["score", "--benchmark", "nope"], "--benchmark: no benchmark 'nope'; there are: "),
        (["score", "--benchmark", "gtr-bench", "--variant", "v9"], "--variant: "),
        (["score", "--benchmark", "gtr-bench", "--mode", "kind"], "'official', 'strict'"),
        (["report", "j_none"], "--data-dir: "),
        (["report", "j_none", "--format", "parquet"], "--out: "),
        (["report", "j_none", "--out", "report.doc"], "--format: "),
        (["up", "--host", "0.0.0.0"], "--host: '0.0.0.0' needs GNOMON_API_KEYS"),
        (["up", "--queues", "../x"], "--queues: "),
        (["api"], "GNOMON_REDIS_URL: not set"),
        (["worker"], "GNOMON_REDIS_URL: not set"),
        (
            ["tools", "call", "distance", "--scene", "nowhere.geojson"],
            "scene: nowhere.geojson cannot be read",
        ),
        (["tools", "call", "distance"], "scene: distance needs a scene"),
        (["tools", "call", "distance", "--scene", "x", "--args", "{"], "--args: not JSON"),
        (["demo", "--out", "/dev/null/out"], "--out: "),
        (["demo", "--data-dir", "/dev/null/data"], "/dev/null/data"),
        (["submit", "nowhere.yaml"], "SPEC: nowhere.yaml cannot be read"),
        (["export", "j", "--format", "xml", "--out", "o"], "no format 'xml'; allowed: atif, cassette"),
        (["import", "a.json", "--format", "xml"], "format: no format 'xml'; allowed: atif, chat"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    args: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon(*args) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_plugin_file_that_does_not_load_leaves_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNOMON_PLUGINS", "/nowhere/plugin.py")
    assert gnomon("--help") == 0
    assert "Run a job:" in capsys.readouterr().out
    assert gnomon("jobs") == 2
    assert "the plug-in file /nowhere/plugin.py cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["dmo"], "No such command 'dmo'. Did you mean 'demo'?"),
        (["reprot"], "No such command 'reprot'. (Did you mean one of: 'export', 'report'?)"),
        (["fly"], "No such command 'fly'. `gnomon --help` lists the commands."),
        (["tools", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["run", "--wrokers", "2", "x"], "No such option '--wrokers'. Did you mean '--workers'?"),
    ],
)
def test_a_mistyped_command_or_option_is_answered_with_the_nearest(
    args: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon(*args) == 2
    assert capsys.readouterr().err == f"gnomon: {says}\n"


@pytest.mark.parametrize("command", ["run", "show", "try"])
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"benchmark": "nope"}, "benchmark: "),
        ({"benchmark": "gtr-bench"}, "data: "),
        ({"benchmark": "gtr-bench", "data": "nowhere"}, "data: "),
        ({"benchmark": "gtr-bench", "data": "."}, "data: "),
        ({"repeats": 0}, "repeats: "),
        ({"models": [{"id": "x/y", "api_base": "https://example.org"}]}, "models.0.api_base: "),
        ({"models": [{"id": "x/y", "options": {"api_key": "sk-secret"}}]}, "models.0.options.api_key: "),
    ],
)
def test_a_bad_spec_is_one_line_and_exit_code_2(
    command: str, changes: dict[str, Any], field: str, write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [] if command == "run" else ["--sample", "s", "--arm", "raw"]
    assert gnomon(command, write(**changes), *more) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"gnomon: {field}")
    assert len(said.err.strip().splitlines()) == 1
    assert "sk-secret" not in said.err


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"models": [{"id": "reference"}, {"id": "x/y", "temperature": 3}]}, "(the second of models, 'x/y')"),
        ({"arms": [{"name": "raw", "agent": "magic"}]}, "(the first of arms, 'raw')"),
        ({"arms": [{"name": "raw", "agent": "direct", "show": ["all"]}]}, "(the first of arms, 'raw')"),
        ({"models": [{"id": f"m{n}"} for n in range(11)] + [{"id": ""}]}, "(number 12 of models)"),
    ],
)
def test_the_entry_of_a_list_that_is_wrong_is_named_in_words(
    changes: dict[str, Any], says: str, write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon("plan", write(**changes)) == 2
    assert capsys.readouterr().err.rstrip().endswith(says)


def test_a_field_made_of_digits_is_refused_in_one_line(
    write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon("plan", write(**{"9" * 5000: 1})) == 2
    assert "of models" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "try"])
@pytest.mark.parametrize("wrong", [["--arm", "no"], ["--arm", "raw", "--model", "no"]])
def test_an_arm_or_model_that_is_not_in_the_spec_is_refused_with_those_that_are(
    command: str, wrong: list[str], write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon(command, write(), "--sample", "s", *wrong) == 2
    assert f"no {wrong[-2].removeprefix('--')} 'no'; there are: " in capsys.readouterr().err


def test_a_bad_environment_is_named(
    monkeypatch: pytest.MonkeyPatch, write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNOMON_ALLOWED_API_BASES", "what is this")
    assert gnomon("run", write()) == 2
    assert "GNOMON_ALLOWED_API_BASES: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GNOMON_REDIS_URL", "redis://:s3cret@127.0.0.1:1/0"),
        ("GNOMON_REDIS_URL", "no url, s3cret"),
        ("GNOMON_DATABASE_URL", "sqlite:////dev/null/below/x.db"),
        ("GNOMON_DATABASE_URL", "nothing://me:s3cret@host/db"),
    ],
)
def test_a_queue_or_store_that_does_not_open_is_named_without_its_secrets(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    assert gnomon("run", write()) == 2
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1
    assert f"{name}: " in said
    assert "s3cret" not in said


def test_a_service_that_does_not_answer_is_named(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("submit", write(), "--url", "http://127.0.0.1:1") == 2
    assert capsys.readouterr().err == (
        "gnomon: --url: nothing answers at http://127.0.0.1:1: Connection refused; "
        "`gnomon up` starts a server on this machine\n"
    )


EXAMPLES = [
    "demo.yaml",
    "gtr-bench.yaml",
    "own-model.yaml",
    "sti-bench.yaml",
    "urbanvideo-bench.yaml",
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_a_spec(name: str) -> None:
    from gnomon.core.agent import AGENTS
    from gnomon.spec.rules import parse_spec
    from gnomon.spec.spec_file import read_spec

    spec = parse_spec(read_spec(ROOT / "examples" / name), agents=AGENTS.names())
    assert spec.analysis.primary == ("raw", "tools")


def test_the_demo_asks_the_same_number_in_every_cell() -> None:
    from collections import Counter
    from importlib.resources import files

    from gnomon.spec.spec_file import load_yaml
    from gnomon_service.jobs import draft_from_cli
    from gnomon_service.settings import read_settings

    text = files("gnomon_service.cli").joinpath("demo.yaml").read_text(encoding="utf-8")
    draft = draft_from_cli(load_yaml(text), read_settings({}))
    assert Counter(ref.cell for ref in draft.refs).total() == 280
    assert set(Counter(ref.cell for ref in draft.refs).values()) == {20}
    assert [arm.name for arm in draft.spec.arms] == ["raw", "tools"]


def test_generated_worlds_are_a_folder_that_gtr_bench_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon("generate", "worlds", "--out", "here", "--samples", "14") == 0
    assert "14 questions" in capsys.readouterr().out
    assert sum(len(json.loads(path.read_text())) for path in Path("here/data").rglob("*.json")) >= 14
    assert gnomon("generate", "worlds", "--out", "here") == 2
    assert "out: " in capsys.readouterr().err


def test_generated_worlds_have_the_difficulty_that_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    easy = ("generate", "worlds", "--samples", "2", "--difficulty", "easy", "--workers", "1")
    assert gnomon(*easy, "--out", "easy") == 0
    assert all("easy" in path.stem for path in Path("easy").rglob("*.geojson"))
    mixed = ("generate", "worlds", "--samples", "2", "--difficulty", "mixed", "--workers", "1")
    assert gnomon(*mixed, "--out", "mixed") == 0
    assert "warning: the first 2 questions hold none that is easy or medium" in capsys.readouterr().err
    for refused in ("detur=1:2", "detour=3:1", "detour=50:60"):
        assert gnomon("generate", "worlds", "--out", "none", "--samples", "2", "--difficulty", refused) == 2
        assert "--difficulty: " in capsys.readouterr().err
    assert not Path("none").exists()


def test_generated_worlds_have_the_options_that_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ("generate", "worlds", "--samples", "2", "--world", "movement=simulated,clocks=apart")
    assert gnomon(*wanted, "--workers", "1", "--out", "lively") == 0
    scenes = list(Path("lively").rglob("*.geojson"))
    assert scenes
    assert all("with~simulated~apart" in path.stem for path in scenes)
    capsys.readouterr()
    for refused in ("movment=simulated", "movement=wild", "network=atlantis", "movement"):
        assert gnomon("generate", "worlds", "--out", "none", "--samples", "2", "--world", refused) == 2
        assert "--world" in capsys.readouterr().err
    assert gnomon("audit", "--benchmark", "sti-bench", "--world", "clocks=apart") == 2
    assert "--world: " in capsys.readouterr().err
    assert not Path("none").exists()


def test_a_stopped_run_of_other_worlds_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    making = Path("here/.making")
    making.mkdir(parents=True)
    (making / "plan.json").write_text('{"seed": 3}')
    assert gnomon("generate", "worlds", "--out", "here") == 2
    assert "a stopped run with" in capsys.readouterr().err


def test_tools_are_listed_and_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert gnomon("tools", "list") == 0
    assert "distance" in capsys.readouterr().out
    assert gnomon("tools", "list", "--json") == 0
    assert {"name", "description", "parameters"} <= set(json.loads(capsys.readouterr().out)[0])
    scene = str(ROOT / "examples" / "scenes" / "small.geojson")
    args = '{"start": {"camera": "c1"}, "end": {"camera": "c2"}}'
    assert gnomon("tools", "call", "distance", "--scene", scene, "--args", args) == 0
    assert json.loads(capsys.readouterr().out)["straight_m"] > 0
    assert gnomon("tools", "call", "distance", "--scene", scene) == 2
    assert "args: " in capsys.readouterr().err


def test_a_tool_that_needs_no_scene_is_called_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    args = '{"positions_m": [[0, 0], [10, 0]], "tolerance_m": 1}'
    assert gnomon("tools", "call", "describe_path", "--args", args) == 0
    assert json.loads(capsys.readouterr().out)["legs"] == [{"turn_deg": 0.0, "length_m": 10.0}]


def test_a_tool_that_is_offered_with_scenes_but_uses_none_is_called_without(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert gnomon("tools", "call", "speed", "--args", '{"distance_m": 105, "seconds": 75}') == 0
    assert json.loads(capsys.readouterr().out)["speed_mps"] == 1.4
