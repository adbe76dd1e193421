"""Jobs with tool servers over real processes: recorded, replayed without the server, and hostile ones."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.report.row_formats import ndjson_line
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import Trial
from gnomon_agents.models.scripted import ScriptedModel
from gnomon_service.jobs import draft_from_cli, draft_from_request
from gnomon_service.settings import read_settings
from gnomon_tools.servers.cassette import open_cassette
from gnomon_tools.servers.connections import close_all

SERVER = Path(__file__).parents[1] / "tools" / "servers" / "plain_server.py"
UNLIKE = {"job_id", "trial_id", "wall_s", "started_at", "ended_at"}


def reply(name: str, **arguments: object) -> dict:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def spec(folder: Path, arms: list[dict], replies: list, limit: int = 2) -> Path:
    written = {
        "benchmark": "worlds",
        "select": {"limit": limit},
        "models": [{"id": "scripted", "options": {"replies": replies}}],
        "arms": arms,
        "preflight": False,
    }
    path = folder / "spec.json"
    path.write_text(json.dumps(written))
    return path


def rows(out: Path) -> list[dict]:
    read = [json.loads(line) for line in (out / "rows.ndjson").read_text().splitlines()]
    return sorted(read, key=lambda row: (row["arm"], row["sample_id"]))


@pytest.fixture
def server(tmp_path: Path) -> dict:
    return server_in(tmp_path)


def server_in(folder: Path) -> dict:
    (folder / "plain_server.py").write_text(SERVER.read_text())
    return {"mcp": {"command": [sys.executable, "./plain_server.py"]}}


def arms_of(server: dict, **cassette: str) -> list[dict]:
    common = {"agent": "react", "tools": ["speed", server], **({"cassette": cassette} if cassette else {})}
    return [
        {"name": "raw", "agent": "direct"},
        {"name": "live", **common},
        {"name": "placebo", **common, "results": "other_scene"},
    ]


def run_here(path: Path, folder: Path) -> dict[tuple[str, str], Row]:
    """The rows of all trials, run in this process."""
    draft = draft_from_cli(json.loads(path.read_text()), read_settings({}, data_dir=folder / "here"))
    ended: dict[tuple[str, str], Row] = {}
    for ref in draft.refs:
        for arm in draft.spec.arms:
            trial = Trial(trial_id="t", job_id="j", ref=ref, model="scripted", arm=arm.name, repeat=0)
            work = run_trial(
                trial,
                bench=draft.job.bench,
                sample=lambda name=ref.sample_id: draft.job.samples.get(name),  # type: ignore[misc]
                agent=AGENTS.get(arm.agent),
                model=ScriptedModel(draft.spec.models[0]),
            )
            ended[arm.name, ref.sample_id] = asyncio.run(work)[0]
    close_all()
    return ended


CALLS = [reply("plain__measure", what="it"), reply("plain__add", a=1, b="x"), "A"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, run_gnomon) -> Path:
    """A folder with a job that has run, and two cassettes of it; of the second one, results are wrong."""
    folder = tmp_path_factory.mktemp("recorded")
    server = server_in(folder)
    broken = {"faults": {"kind": "silent", "rate": 1.0}, "cassette": {"record": "broken.jsonl"}}
    arms = [
        *arms_of(server, record="plain.jsonl"),
        {"name": "broken", "agent": "react", "tools": [server], **broken},
    ]
    path = spec(folder, arms, CALLS)
    ran = run_gnomon("run", str(path), "--data-dir", "data", "--out", "first", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder


def test_a_recorded_job_is_the_same_row_by_row_once_the_server_is_gone(
    tmp_path: Path, recorded: Path, server: dict, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.jsonl").write_bytes((recorded / "plain.jsonl").read_bytes())
    assert open_cassette(tmp_path / "plain.jsonl").calls == 4
    (tmp_path / "plain_server.py").unlink()
    before = {(row["arm"], row["sample_id"]): row for row in rows(recorded / "first")}
    replayed = run_here(spec(tmp_path, arms_of(server, replay="plain.jsonl"), CALLS), tmp_path)
    assert len(replayed) == 6
    for key, row in replayed.items():
        plain = json.loads(ndjson_line(row))
        for name in plain.keys() - UNLIKE:
            assert plain[name] == before[key][name], name
    assert "placebo:dealt" in next(row for (arm, _), row in replayed.items() if arm == "placebo").flags
    path = spec(tmp_path, arms_of(server, replay="plain.jsonl")[:2], [reply("plain__measure"), "A"])
    ends = {(key[0], row.outcome.value, row.stop_reason) for key, row in run_here(path, tmp_path).items()}
    assert ("live", "infra_missing", "cassette:miss") in ends
    (tmp_path / "plain.jsonl").write_text("{}")
    with pytest.raises(SpecError, match="line 1: it is no header"):
        run_here(path, tmp_path)


def test_results_of_servers_are_replayed_wrong_and_true(recorded: Path, run_gnomon) -> None:
    job = json.loads((recorded / "first" / "report.json").read_text())["job"]["id"]
    cassette = (recorded / "plain.jsonl").read_bytes()
    for arm_name, result, named in (("live", "noise", "wrong result"), ("broken", "truth", "true result")):
        options = ("--arm", arm_name, "--result", result, "--data-dir", "data", "--out", result)
        done = run_gnomon("replay", job, *options, cwd=recorded)
        assert done.returncode == 0, done.stderr
        read = rows(recorded / result)
        assert {row["stop_reason"] for row in read} == {"answered"}
        assert {row["metrics"]["replayed_change"] for row in read if row["arm"] == named} == {1.0}
        assert f"under “{named}” than under “as recorded”" in done.stdout
    assert (recorded / "plain.jsonl").read_bytes() == cassette, (
        "a replay records nothing over the first job's"
    )


def test_a_true_result_of_a_server_is_not_to_be_had_from_a_cassette(
    tmp_path: Path, recorded: Path, server: dict, monkeypatch, run_job, store, run_in_process
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.jsonl").write_bytes((recorded / "broken.jsonl").read_bytes())
    arm = {"name": "broken", "agent": "react", "tools": [server], "cassette": {"replay": "broken.jsonl"}}
    arm["faults"] = {"kind": "silent", "rate": 1.0}
    report = run_job(json.loads(spec(tmp_path, [arm], CALLS).read_text()))
    assert report["alerts"] == []
    options = ("--arm", "broken", "--result", "truth", "--data-dir", str(tmp_path))
    refused = run_in_process("replay", report["job"]["id"], *options)
    assert refused.returncode == 2
    assert "cassette" in refused.stderr
    assert "noise" in refused.stderr


def test_hostile_servers_end_as_outcomes_of_their_trials(tmp_path: Path, server: dict, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    modes = ("dies", "hang", "big", "types")
    arms = [
        {
            "name": mode,
            "agent": "react",
            "tools": {
                "name": mode,
                "mcp": {"command": [*server["mcp"]["command"], mode]},
                "include": ["add"],
                "limits": {"call_seconds": 1},
            },
        }
        for mode in modes
    ]
    calls = [reply(f"{mode}__add", a=1, b=2)["tool_calls"][0] for mode in modes]
    path = spec(tmp_path, arms, [{"tool_calls": calls}, "A"], limit=1)
    ended = {arm: row for (arm, _), row in run_here(path, tmp_path).items()}
    assert (ended["dies"].outcome.value, ended["dies"].stop_reason) == ("infra_missing", "server:died")
    assert "the disk of this server is broken" in ended["dies"].error
    for mode, errors in (("hang", 1), ("types", 1), ("big", 0)):
        assert ended[mode].tools_used[f"{mode}__add"]["errors"] == errors
        assert ended[mode].outcome.value != "infra_missing"


def test_servers_that_a_request_names_are_started_only_where_the_operator_allows(
    tmp_path: Path, server: dict, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = str(tmp_path / "plain_server.py")
    command = [sys.executable, script]
    written = json.loads(spec(tmp_path, arms_of({"mcp": {"command": command}})[:1], ["A"]).read_text())
    tools = {"name": "tools", "agent": "react", "tools": [{"mcp": {"command": command}}]}
    written["arms"].append(tools)
    refusing = read_settings({}, data_dir=tmp_path / "here")
    with pytest.raises(
        SpecError, match="may not be run here; who runs the service allows commands: none"
    ) as refusal:
        draft_from_request(written, refusing)
    assert refusal.value.field == "arms.1.tools.0.mcp.command"
    allowing = {"GNOMON_ALLOWED_COMMANDS": f"uvx other; {sys.executable} {script}"}
    draft = draft_from_request(written, read_settings(allowing, data_dir=tmp_path / "here"))
    assert "plain__add" in draft.spec.arm("tools").tools
    frozen = draft.spec.model_dump(mode="json")
    with pytest.raises(SpecError, match="may not be run"):  # listed already, and called all the same
        draft_from_request(frozen, refusing)
    (tmp_path / "plain_server.py").unlink()
    assert draft_from_cli(frozen, refusing).spec == draft.spec  # a stored spec needs no server to be read
    tools["tools"][0]["mcp"] = {"command": command, "env": {"PATH": "/mine"}}
    with pytest.raises(SpecError, match="not permitted over REST"):
        draft_from_request(written, read_settings(allowing, data_dir=tmp_path / "here"))
    tools["tools"] = [{"mcp": {"url": "http://192.0.2.1/mcp"}}]
    with pytest.raises(SpecError, match="GNOMON_ALLOWED_API_BASES"):
        draft_from_request(written, refusing)


def test_presets_take_the_tools_of_servers(tmp_path: Path, server: dict, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    written = json.loads(spec(tmp_path, [], ["A"]).read_text())
    written["arms"] = {"preset": "leave_one_out", "tools": ["speed", {**server, "exclude": ["read.*"]}]}
    spec_ = draft_from_cli(written, read_settings({}, data_dir=tmp_path / "here")).spec
    everything = {"speed", "plain__add", "plain__measure"}
    assert everything in [set(arm.tools) for arm in spec_.arms]
    assert everything - {"plain__add"} in [set(arm.tools) for arm in spec_.arms]
    assert [tool.name for tool in spec_.servers["plain"].listing.tools] == ["add", "measure"]


def test_a_plan_shows_what_a_server_says_of_its_tools(tmp_path: Path, server: dict, run_in_process) -> None:
    spec(tmp_path, [{"name": "tools", "agent": "react", "tools": [server]}], ["A"])
    planned = run_in_process("plan", "spec.json", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert "their descriptions go to the model as they are:" in planned.stdout
    assert "  plain__add: " in planned.stdout
