"""A condition of an arm is one object: of ours, or of a plug-in that an arm names."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.arm import Arm
from gnomon.core.errors import SpecError
from gnomon.core.ids import stable_hash
from gnomon.media import MediaStore
from gnomon.spec.arm_rules import conditions
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.pins import pins_of
from gnomon.trials.condition import CONDITIONS, conditions_of
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon_tools.core.outside import FILES_ENV
from tests.gnomon.test_trial import SAMPLE, TRIAL, Asker, ToyBenchmark, ToyModel, says

LOUD = """
from dataclasses import replace

from gnomon.core.sample import Part
from gnomon.core.validation import StrictModel
from gnomon.trials.condition import Condition


class Options(StrictModel):
    times: int = 1


class Loud(Condition):
    name = "loud"
    description = "calls after the question"
    options = Options
    looks_at_all_arms = True

    def on_sample(self, sample, now):
        call = Part(content="!" * now.options(self).times)
        return replace(sample, parts=(*sample.parts, call))

    def on_prompt(self, messages, sample, now):
        return [*messages, {"role": "user", "content": "Please."}]

    def read_off(self, response, sample, now):
        return response.rstrip("!"), {"calls": float(response.count("!"))}

    def on_score(self, score, sample, response, now):
        return replace(score, metrics={**score.metrics, "is_loud": float(self.is_of(now.arm))})

    def flags(self, trace, now):
        yield "heard" if self.is_of(now.arm) else "quiet"


loud = Loud()
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., JobSpec]:
    path = tmp_path / "loud.py"
    path.write_text(LOUD)
    monkeypatch.setenv(FILES_ENV, str(path))

    def spec(**options: Any) -> JobSpec:
        arms = [
            {"name": "raw", "agent": "direct", "conditions": {"loud": options}},
            {"name": "plain", "agent": "direct"},
        ]
        return JobSpec.model_validate({"benchmark": "toy", "models": [{"id": "m"}], "arms": arms})

    return spec


def run(spec: JobSpec, tmp_path: Path, arm: str = "raw") -> Any:
    from dataclasses import replace

    bench = JobContext(spec=spec, benchmark=ToyBenchmark(), media=MediaStore(tmp_path / "media"))
    model = ToyModel(says("yes!!"))
    agent: Any = Asker()
    row, trace = asyncio.run(
        run_trial(replace(TRIAL, arm=arm), bench=bench, sample=lambda: SAMPLE, agent=agent, model=model)
    )
    return row, trace


def test_a_condition_of_a_plugin_file_changes_question_prompt_score_and_flags(
    job: Callable[..., JobSpec], tmp_path: Path
) -> None:
    row, trace = run(job(times=3), tmp_path)
    assert [part["text"] for part in trace.prompt[0]["content"]] == ["What?", "!!!"]
    assert trace.prompt[1]["content"] == "Please."
    assert (row.score, dict(row.metrics), row.flags) == (1.0, {"is_loud": 1.0, "calls": 2.0}, ("heard",))


def test_arms_without_it_are_measured_beside_it_and_asked_as_ever(
    job: Callable[..., JobSpec], tmp_path: Path
) -> None:
    row, trace = run(job(), tmp_path, arm="plain")
    assert len(trace.prompt) == 1
    assert (row.score, dict(row.metrics), row.flags) == (0.0, {"is_loud": 0.0}, ("quiet",))


def test_one_that_does_not_look_at_all_arms_is_asked_for_its_own_alone(
    job: Callable[..., JobSpec], tmp_path: Path
) -> None:
    path = tmp_path / "loud.py"
    path.write_text(LOUD.replace("    looks_at_all_arms = True\n", ""))
    row, _ = run(job(), tmp_path, arm="plain")
    assert (dict(row.metrics), row.flags) == ({}, ())


def test_it_is_pinned_like_other_plugins(job: Callable[..., JobSpec]) -> None:
    pins = pins_of(job().model_copy(update={"benchmark": "worlds"}))
    assert list(pins) == ["conditions/loud"]
    assert pins["conditions/loud"].distribution == "loud.py"


@pytest.mark.parametrize(
    ("named", "field", "words"),
    [
        ({"loud": {"times": "x"}}, "arms.0.conditions.loud.times", "whole number"),
        ({"loud": {"volume": 1}}, "arms.0.conditions.loud.volume", "allowed here: times"),
        ({"quiet": {}}, "arms.0.conditions", "no condition 'quiet'; there are: loud"),
        ({"faults": {}}, "arms.0.conditions", "'faults' is one of Gnomon's own"),
    ],
)
def test_what_it_does_not_take_is_refused_by_field(
    job: Callable[..., JobSpec], named: Any, field: str, words: str
) -> None:
    spec = job()
    arm = spec.arms[0].model_copy(update={"conditions": named})
    with pytest.raises(SpecError, match=words) as refused:
        conditions(spec.model_copy(update={"arms": (arm,)}), None)
    assert refused.value.field == field


def test_an_arm_without_plugged_conditions_is_stored_as_before() -> None:
    arm = Arm(name="a", agent="react", confidence=True)
    assert "conditions" not in arm.model_dump(mode="json")
    assert stable_hash(Arm.model_validate(arm.model_dump()).model_dump(mode="json")) == stable_hash(
        arm.model_dump(mode="json")
    )


def test_ours_are_found_in_their_folder_and_named_after_it() -> None:
    assert CONDITIONS.own_names() == (
        "cassette",
        "confidence",
        "faults",
        "instructions",
        "results",
        "show",
        "tool_names",
        "transform",
        "wording",
    )
    assert [condition.name for condition in CONDITIONS.own()] == list(CONDITIONS.own_names())
    assert [condition.name for condition in conditions_of(Arm(name="a", agent="react"))] == ["wording"]
