"""What a model would get, and one trial as it happens."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gnomon.media import MediaStore
from gnomon.spec import JobSpec
from workers.opening import open_spec
from workers.preview import main

SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 1, "seed": 5},
    "models": [{"id": "scripted", "options": {"replies": ['\x1b[2J {"answer": "A"}']}}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["distance"]}],
}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(SPEC))
    return path


def preview(spec: Path, verb: str, *more: str) -> Result:
    args = [verb, "--spec", str(spec), "--data-dir", str(spec.parent), *more]
    return CliRunner().invoke(main, args)


def first_sample(spec: Path) -> str:
    job = open_spec(JobSpec.model_validate(SPEC), MediaStore(spec.parent / "media"))
    return job.samples.refs[0].sample_id


def test_show_prints_messages_tools_and_pictures(spec: Path) -> None:
    sample = first_sample(spec)
    said = preview(spec, "show", "--sample", sample, "--arm", "tools", "--json")
    assert said.exit_code == 0, said.stderr
    found = json.loads(said.stdout)
    assert found["messages"][0]["role"] == "user"
    assert [tool["function"]["name"] for tool in found["tools"]] == ["distance"]
    assert found["images"] == [block for block in found["messages"][0]["content"] if block["type"] == "image"]
    told = preview(spec, "show", "--sample", sample, "--arm", "raw")
    assert "Question" in told.stdout
    assert "0 tools" in told.stdout


def test_show_holds_what_the_agent_itself_adds(spec: Path, tmp_path: Path) -> None:
    arms = [
        {"name": "words", "agent": "text-react", "tools": ["distance"]},
        {"name": "plan", "agent": "plan", "tools": ["distance"], "show": ["media", "facts"]},
    ]
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**SPEC, "arms": arms}))
    sample = first_sample(spec)
    words, plan = (
        json.loads(preview(other, "show", "--sample", sample, "--arm", arm, "--json").stdout)
        for arm in ("words", "plan")
    )
    assert words["tools"] == []
    assert '"name": "distance"' in words["messages"][0]["content"][-1]["text"]
    assert plan["tool_choice"] == "none"
    assert plan["messages"][0]["content"][0]["text"].startswith("Facts about the scene")
    assert "plan" in plan["messages"][0]["content"][-1]["text"]


def test_try_prints_each_step_and_no_control_characters(spec: Path) -> None:
    sample = first_sample(spec)
    said = preview(spec, "try", "--sample", sample, "--arm", "raw")
    assert said.exit_code == 0, said.stderr
    assert "\x1b[2J" not in said.stdout
    assert "reply" in said.stdout
    found = json.loads(preview(spec, "try", "--sample", sample, "--arm", "raw", "--json").stdout)
    assert found["row"]["sample_id"] == sample
    assert len(found["trace"]["steps"]) == 1


def test_a_trial_that_ends_for_no_fault_of_the_model_exits_with_1(spec: Path) -> None:
    sample = first_sample(spec)
    down = {"fault": "refused", "transient": False}
    spec.write_text(json.dumps({**SPEC, "models": [{"id": "scripted", "options": {"replies": [down]}}]}))
    assert preview(spec, "try", "--sample", sample, "--arm", "raw").exit_code == 1


def test_what_is_not_in_the_spec_exits_with_2_and_says_what_is(spec: Path) -> None:
    for sample, arm, allowed in (
        ("x", "nothing", "there are: raw, tools"),
        ("x", "raw", "selected, such as"),
    ):
        said = preview(spec, "show", "--sample", sample, "--arm", arm)
        assert (said.exit_code, said.stdout) == (2, "")
        assert allowed in said.stderr
