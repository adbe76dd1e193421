"""A replayed job changes one result per stored trial and finds the effect that was planted."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.arm import Arm, Replay
from gnomon.core.errors import Conflict, DataError, SpecError
from gnomon.core.ids import stable_seed
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.replay import can_replay, choose_call, prepare_replay
from gnomon.trials.trial_plan import trial_id
from gnomon_analyses.replay_job import CONTROL, replay_cost, replay_spec
from gnomon_service.cli.main import main
from gnomon_service.jobs import draft_from_cli
from gnomon_service.settings import read_settings
from gnomon_workers.open_job import open_spec
from gnomon_workers.store.store import Store, open_store
from tests.workers import desk

PLANTED = 0.4
SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 40, "seed": 7, "tasks": ["GeoLocation"]},
    "models": [
        {
            "id": "scripted",
            "options": {
                "rules": [
                    {
                        "contains": "It says nothing about this question",
                        "replies": [
                            {"tool_calls": [{"name": "list_cameras"}]},
                            {"draw": {'{"answer": "A"}': 1 - PLANTED, '{"answer": "B"}': PLANTED}},
                        ],
                    },
                    {
                        "replies": [
                            {"tool_calls": [{"name": "list_cameras"}]},
                            '{"answer": "A"}',
                        ]
                    },
                ]
            },
        }
    ],
    "arms": [
        {"name": "tools", "agent": "react", "tools": ["list_cameras", "distance"]},
        {"name": "raw", "agent": "direct"},
    ],
}


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder and a job in it whose model needs the tool in four of ten trials."""
    data = tmp_path_factory.mktemp("replayed")
    with Store(f"sqlite:///{data / 'gnomon.db'}") as store:
        job = desk.post(store, data, SPEC)
        desk.run(store, data, job)
    return data, job.id


@pytest.fixture
def store(ran: tuple[Path, str]) -> Any:
    store = open_store(f"sqlite:///{ran[0] / 'gnomon.db'}")
    yield store
    store.close()


def test_the_planted_effect_of_a_result_is_found(
    ran: tuple[Path, str], tmp_path: Path, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    data, job = ran
    out = tmp_path / "out"
    places = ("--data-dir", str(data), "--out", str(out), "--workers", "1")
    ended = run_gnomon("replay", job, "--arm", "tools", "--result", "nothing", *places)
    assert ended.returncode == 0, ended.stderr
    assert "“no result” in place of what was recorded: the answer changed in " in ended.stdout
    report = json.loads((out / "report.json").read_text())
    overall = next(row for row in report["replays"]["rows"] if row["by"] == "all")
    again = next(row for row in report["replays"]["rows"] if row["by"] == "again")
    assert (again["variant"], again["trials"], again["answer_changed"], again["diff"]) == (
        CONTROL,
        40,
        0.0,
        None,
    )
    low, high = overall["answer_changed_ci95"]
    assert low <= PLANTED <= high
    assert high - low < 0.4
    assert (overall["trials"], overall["samples"]) == (40, 40)
    [contrast] = [each for each in report["contrasts"] if each["scope"] == "all"]
    assert (contrast["baseline"], contrast["variant"]) == (CONTROL, "no result")
    assert contrast["diff"] == pytest.approx(overall["diff"])
    rows = [json.loads(line) for line in (out / "rows.ndjson").read_text().splitlines()]
    control = [row for row in rows if row["arm"] == CONTROL]
    assert {row["answer"] for row in control} == {"A"}, "as recorded, the trial ends as it did"
    assert {row["metrics"]["replayed_tool"] for row in rows} == {"list_cameras"}
    assert not [each for each in report["measures"] if each["measure"].startswith("replayed_")]
    assert "What each call does to the answer" in (out / "report.html").read_text()


def test_it_says_what_it_will_cost_and_runs_nothing(
    ran: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    data, job = ran
    assert gnomon("replay", job, "--arm", "tools", "--plan", "--json", "--data-dir", str(data)) == 0
    cost = json.loads(capsys.readouterr().out)
    assert (cost["samples"], cost["trials"], cost["model_calls"]) == (40, 120, 120)
    assert cost["usd"] == 0.0, "built-in models are free"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--arm", "raw"), "--arm"),
        (("--arm", "other"), "arm"),
        (("--arm", "tools", "--result", "truth"), "--result"),
        (("--arm", "tools", "--tool", "distance"), "replay"),
        (("--arm", "tools", "--model", "m"), "model"),
    ],
)
def test_what_cannot_be_replayed_is_refused(
    ran: tuple[Path, str], options: tuple[str, ...], field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data, job = ran
    assert gnomon("replay", job, *options, "--data-dir", str(data)) == 2
    assert field in capsys.readouterr().err


def test_an_arm_must_be_like_the_one_it_replays(ran: tuple[Path, str], store: Store) -> None:
    data, job = ran
    fields = replay_spec(store, job, arm="tools", results=["noise"], tool=None, model=None, repeats=1)
    [contrast] = fields["analysis"]["contrasts"]
    assert contrast["isolates"] == "a wrong result of one call in place of the recorded one"
    settings = read_settings({}, data_dir=data)
    draft = draft_from_cli(fields, settings)
    assert len(draft.refs) == 40
    assert replay_cost(store, draft.spec, [])["trials"] == 0
    for change, message in (
        ({"max_tool_calls": 3}, "must be the same"),
        ({"replay": {"job": "j_none", "arm": "tools"}}, "no job"),
        ({"replay": {"job": job, "arm": "none"}}, "no arm 'none'"),
    ):
        arms = [fields["arms"][0], {**fields["arms"][1], **change}]
        with pytest.raises(SpecError, match=message):
            draft_from_cli({**fields, "arms": arms}, settings)
    with pytest.raises(SpecError, match="not of"):
        draft_from_cli({**fields, "benchmark": "itinerary", "select": {"limit": 4}}, settings)


def test_a_job_that_runs_is_not_replayed(ran: tuple[Path, str], tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'gnomon.db'}")
    spec = JobSpec.model_validate({**SPEC, "select": {"limit": 1}})
    samples = open_spec(spec, MediaStore(tmp_path / "media")).samples
    job = store.create_job(spec, samples.refs)
    with pytest.raises(Conflict):
        replay_spec(store, job.id, arm="tools", results=["noise"], tool=None, model=None, repeats=1)
    store.close()


def tool_step(name: str, observation: str, **more: object) -> dict[str, object]:
    step = {"kind": "tool", "name": name, "arguments": "{}", "observation": observation, "error": None}
    return {**step, "pictures": [], **more}


def test_a_call_is_drawn_evenly_among_those_that_returned_text() -> None:
    steps = [
        {"kind": "reply", "text": ""},
        tool_step("a", "1"),
        tool_step("b", "2", error="bad_arguments"),
        tool_step("c", "3", pictures=["00"]),
        tool_step("a", "4"),
    ]
    drawn = Counter(choose_call({"steps": steps}, seed=stable_seed(n)).number for n in range(2_000))
    assert set(drawn) == {1, 4}
    assert 900 <= drawn[1] <= 1_100
    assert choose_call({"steps": steps}, seed=5, tool="a").calls == 4
    for tool in ("b", "c", "d"):
        with pytest.raises(DataError):
            choose_call({"steps": steps}, seed=5, tool=tool)


@pytest.mark.parametrize("kind", ["recorded", "truth", "noise", "other_sample", "nothing"])
def test_each_kind_of_result_is_what_it_says(ran: tuple[Path, str], store: Store, kind: Any) -> None:
    data, job = ran
    spec = store.job(job).spec
    opened = open_spec(spec, MediaStore(data / "media"))
    sample = opened.samples.get(opened.samples.refs[0].sample_id)
    trace = store.trace(trial_id(job, sample.ref.sample_id, "scripted", "tools", 0))
    assert trace is not None
    call = choose_call(trace, seed=1)
    arm: Arm = spec.arm("tools").model_copy(update={"replay": Replay(job=job, arm="tools", result=kind)})
    prepared = prepare_replay(
        trace,
        call,
        sample=sample,
        arm=arm,
        tools=spec.toolset(arm),
        media=opened.bench.media,
        seed=1,
        donor=lambda tool: f"{tool}!",
    )
    recorded, result = call.step["observation"], prepared.steps.results[-1].observation
    same = kind in ("recorded", "truth")
    assert (result == recorded) is same
    assert prepared.metrics["replayed_change"] == float(not same)
    if kind == "other_sample":
        assert result == "list_cameras!"
    if kind == "noise":
        assert sorted(json.loads(result)) == sorted(json.loads(recorded))


def test_a_trial_without_a_sound_call_has_nothing_to_replay(ran: tuple[Path, str], store: Store) -> None:
    row = next(row for row in store.iter_rows(ran[1]) if row.arm == "raw")
    assert not can_replay(row)
    called = next(row for row in store.iter_rows(ran[1]) if row.arm == "tools")
    assert can_replay(called)
    assert can_replay(called, "list_cameras")
    assert not can_replay(called, "distance")
