"""A question in another guise has the changed truth, and its answers map back to the original's terms."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS, FEATURE_PREFIX, HEURISTIC_PREFIX, PromptProtocol
from gnomon.core.clock import day_span
from gnomon.core.errors import DataError, SpecError
from gnomon.core.row import Row
from gnomon.core.sample import SHOWABLE, Sample, Transform
from gnomon.core.score import Outcome
from gnomon.core.select import Select
from gnomon.core.transforms import Transforms
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.rules import open_samples, parse_spec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import Trial
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_published.benchmarks.gtr_bench.case import Case, body_of
from gnomon_published.benchmarks.gtr_bench.question_view import case_of
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.generate import generate

EVERYWHERE: Sequence[Transform] = ("rotate", "mirror", "shift_time", "rename", "permute_options")
CELLS = 14
PROTOCOLS: Sequence[PromptProtocol] = ("guarded", "official")


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> MediaStore:
    return MediaStore(tmp_path_factory.mktemp("media"))


def questions(media: MediaStore, protocol: PromptProtocol = "guarded") -> list[Sample]:
    samples = worlds.open(data=None, select=Select(limit=CELLS, seed=2), protocol=protocol, media=media)
    return [samples.get(ref.sample_id) for ref in samples.refs]


def guise(sample: Sample, transform: Transform, media: MediaStore, seed: int = 0) -> Sample:
    assert isinstance(worlds, Transforms)
    return worlds.transformed(sample, transform, seed=seed, show=SHOWABLE, media=media)


def golden(case: Case) -> str:
    """The reply of one who knows."""
    letters = [choice[:1] for choice in case.gold]
    body: dict[str, Any] = {"answer": letters if len(letters) > 1 else letters[0]}
    if case.correct_time_str:
        body["time_duration"] = list(case.correct_time_str)
    return json.dumps(body)


def fits(sample: Sample, transform: Transform) -> bool:
    """Whether the transform is for the sample's task: the order of cameras shows no times."""
    assert isinstance(worlds, Transforms)
    return sample.ref.task in worlds.transforms[transform]


def texts(sample: Sample) -> str:
    return json.dumps(sample.messages())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("transform", EVERYWHERE)
def test_the_changed_truth_is_right_and_maps_back_to_the_original_truth(
    transform: Transform, protocol: PromptProtocol, media: MediaStore
) -> None:
    assert isinstance(worlds, Transforms)
    for sample in questions(media, protocol):
        if not fits(sample, transform):
            continue
        question = guise(sample, transform, media)
        old, new = case_of(sample), case_of(question)
        reply = golden(new)
        assert worlds.score(question, reply, scoring="strict").value == pytest.approx(1.0)
        back = worlds.answer_in_original(question, reply)
        assert back["original_answer"] == ", ".join(choice[:1] for choice in old.gold)
        if old.correct_time_str:
            assert back["original_times"] == ", ".join(old.correct_time_str)
        same = worlds.answer_in_original(sample, golden(old))
        assert same == back


@pytest.mark.parametrize("transform", EVERYWHERE)
def test_equal_seeds_give_equal_bytes_and_the_prompt_is_not_the_original(
    transform: Transform, media: MediaStore
) -> None:
    for sample in questions(media):
        if not fits(sample, transform):
            continue
        prompt = texts(guise(sample, transform, media, seed=4))
        assert prompt == texts(guise(sample, transform, media, seed=4))
        assert prompt != texts(sample)


def test_what_a_transform_is_about_changes_and_nothing_else(media: MediaStore) -> None:
    for sample in questions(media):
        if not fits(sample, "shift_time"):
            continue
        old = case_of(sample)
        dealt = case_of(guise(sample, "permute_options", media))
        assert sorted(map(body_of, dealt.choices)) == sorted(map(body_of, old.choices))
        assert all(one != other for one, other in zip(dealt.choices, old.choices, strict=True))
        assert dealt.clips == old.clips
        later = case_of(guise(sample, "shift_time", media))
        both = zip(later.clips, old.clips, strict=True)
        (moved_s,) = {round(new.start_s - clip.start_s, 6) for new, clip in both}
        assert moved_s == int(moved_s) >= 600
        for text, other in zip(old.correct_time_str, later.correct_time_str, strict=True):
            before, after = day_span(text), day_span(other)
            assert before is not None
            assert after is not None
            assert [round(b - a, 6) for a, b in zip(before, after, strict=True)] == [moved_s, moved_s]
        turned = case_of(guise(sample, "rotate", media))
        assert turned.clips == old.clips
        mirrored = case_of(guise(sample, "mirror", media))
        for clip, flipped in zip(old.clips, mirrored.clips, strict=True):
            for box, other in zip(clip.bboxes, flipped.bboxes, strict=True):
                assert box[0] + box[2] + other[0] == pytest.approx(1920)
                assert box[1:] == other[1:]


def test_clips_stay_in_the_order_in_which_they_were_shown(media: MediaStore) -> None:
    for sample in questions(media):
        assert isinstance(worlds, Transforms)
        heads = [
            line.split(", ", 2)[2]
            for part in sample.parts
            if part.shown == "camera_data" and isinstance(part.content, str)
            for line in part.content.splitlines()[:1]
        ]
        renamed = [
            line.split(", ", 2)[2]
            for part in guise(sample, "rename", media).parts
            if part.shown == "camera_data" and isinstance(part.content, str)
            for line in part.content.splitlines()[:1]
        ]
        assert heads == renamed


def test_feet_are_for_questions_that_state_metres(media: MediaStore) -> None:
    (motion,) = (sample for sample in questions(media)[:6] if sample.ref.cell == "outdoor.MS")
    case = case_of(guise(motion, "change_units", media))
    assert all(" feet " in choice and " ft/s " in choice for choice in case.choices)
    assert not any("meter" in choice or "m/s" in choice for choice in case.choices)
    assert len(set(case.choices)) == len(case.choices)


ARM = {"name": "tools", "agent": "react", "tools": "all"}


def run_all(spec: JobSpec, media: MediaStore) -> dict[tuple[str, str], Row]:
    samples, rows = open_samples(spec, media), {}
    model = ReferenceModel(ModelSpec(id="reference"))
    bench = JobContext(spec=spec, benchmark=spec.plugin(), media=media)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        for arm in spec.arms:
            trial = Trial(trial_id="t", job_id="j", ref=ref, model="reference", arm=arm.name, repeat=0)
            work = run_trial(
                trial,
                bench=bench,
                sample=lambda sample=sample: sample,  # type: ignore[misc]
                agent=AGENTS.get(arm.agent),
                model=model,
            )
            rows[ref.sample_id, arm.name] = asyncio.run(work)[0]
    return rows


def test_the_reference_model_with_tools_answers_alike_in_every_guise(media: MediaStore) -> None:
    arms = [ARM, *({**ARM, "name": transform, "transform": transform} for transform in EVERYWHERE)]
    written = {"benchmark": "worlds", "select": {"limit": CELLS, "seed": 2}, "models": [{"id": "reference"}]}
    anytime = [arm for arm in arms if arm["name"] != "shift_time"]
    timed = [task for task in worlds.tasks if task != "CausalReordering"]
    select = {"limit": CELLS - 2, "seed": 2, "tasks": timed}
    plain = parse_spec({**written, "arms": anytime}, agents=AGENTS.names())
    later = parse_spec({**written, "select": select, "arms": [ARM, arms[3]]}, agents=AGENTS.names())
    rows = run_all(plain, media) | run_all(later, media)
    for (sample_id, arm), row in rows.items():
        original = rows[sample_id, "tools"]
        assert row.score == pytest.approx(original.score, abs=0.01), (sample_id, arm)
        assert row.metrics["original_answer"] == original.metrics["original_answer"], (sample_id, arm)
        if arm != "tools":
            assert row.metrics["transform"] == arm
            assert row.metrics["original_arm"] == "tools"


def test_rows_of_other_jobs_have_no_new_metrics(media: MediaStore) -> None:
    written = {"benchmark": "worlds", "select": {"limit": 1}, "models": [{"id": "reference"}], "arms": [ARM]}
    (row,) = run_all(parse_spec(written, agents=AGENTS.names()), media).values()
    own = {name for name in row.metrics if not name.startswith((FEATURE_PREFIX, HEURISTIC_PREFIX))}
    assert own == {"score", "MCQacc", "TimeIoU"}
    assert "transform" not in json.dumps(parse_spec(written, agents=AGENTS.names()).model_dump(mode="json"))


def test_a_transform_that_an_arm_cannot_show_is_never_the_original_in_silence(media: MediaStore) -> None:
    hidden = {"name": "raw", "agent": "direct", "show": ["camera_data"], "transform": "rotate"}
    written = {
        "benchmark": "worlds",
        "select": {"limit": 1},
        "models": [{"id": "reference"}],
        "arms": [hidden],
    }
    (row,) = run_all(parse_spec(written, agents=AGENTS.names()), media).values()
    assert row.outcome is Outcome.INFRA_MISSING
    assert "changes nothing" in row.error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated") / "gtr"
    generate(out, seed=2, samples=CELLS)
    return out


def test_generated_folders_are_transformed_like_worlds(folder: Path, media: MediaStore) -> None:
    bench = BENCHMARKS.get("gtr-bench")
    assert isinstance(bench, Transforms)
    samples = bench.open(data=folder, select=Select(), protocol="guarded", media=media)
    by_id = {sample.ref.sample_id: sample for sample in questions(media)}
    for ref in samples.refs:
        for transform in ("mirror", "rename", "permute_options"):
            kind = cast(Transform, transform)
            sample = replace(samples.get(ref.sample_id), ref=by_id[ref.sample_id].ref)
            read = bench.transformed(sample, kind, seed=0, show=SHOWABLE, media=media)
            drawn = guise(by_id[ref.sample_id], kind, media)
            assert case_of(read).choices == case_of(drawn).choices
            assert case_of(read).clips == case_of(drawn).clips


def test_a_published_map_allows_what_does_not_change_it(folder: Path, media: MediaStore) -> None:
    bench = BENCHMARKS.get("gtr-bench")
    assert isinstance(bench, Transforms)
    samples = bench.open(data=folder, select=Select(limit=1), protocol="guarded", media=media)
    sample = samples.get(samples.refs[0].sample_id)
    published = replace(sample, target={**sample.target, "draws_map": False})
    for transform in ("rotate", "mirror", "rename"):
        with pytest.raises(DataError, match="published map"):
            bench.transformed(published, cast(Transform, transform), seed=0, show=SHOWABLE, media=media)
    for transform in ("shift_time", "permute_options"):
        bench.transformed(published, cast(Transform, transform), seed=0, show=SHOWABLE, media=media)
    bench.transformed(published, "rename", seed=0, show=("camera_data",), media=media)


@pytest.mark.parametrize(
    ("benchmark", "arm", "field"),
    [
        ("judging", {"transform": "rotate"}, "arms.0.transform"),
        ("worlds", {"transform": "change_units"}, "arms.0.transform"),
        ("worlds", {"transform": "rotate", "show": ["oracle"]}, "arms.0.show"),
    ],
)
def test_what_cannot_be_transformed_is_refused_before_anything_runs(
    benchmark: str, arm: dict[str, Any], field: str
) -> None:
    written = {
        "benchmark": benchmark,
        "data": ".",
        "models": [{"id": "reference"}],
        "arms": [{**ARM, **arm}],
    }
    with pytest.raises(SpecError) as refused:
        parse_spec(written, agents=AGENTS.names())
    assert refused.value.field == field
