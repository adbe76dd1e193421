"""Questions written by a model: the form is checked, kept as published, and asked again."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import DataError, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_samples import read_rows
from gnomon_agents.in_steps import steps_of
from gnomon_analyses.reviews.rows import read_result_rows
from gnomon_published.benchmarks.urbanvideo_authoring.benchmark import Written, read_written
from gnomon_published.benchmarks.urbanvideo_authoring.harvest import write_harvest
from gnomon_published.benchmarks.urbanvideo_authoring.templates import TEMPLATES
from gnomon_published.blind_filter import judged, write_filtered
from tests.published_clips import URBAN_ROWS, publish_urban

GOOD = "Question: Where does it end?\nChoices:\nA. Roof\nB. Street\nC. Park\nAnswer: B"


def row(sample_id: str, model: str, score: float | None, **more: Any) -> dict[str, Any]:
    common = {"benchmark": "urbanvideo-bench", "task": "Proximity", "cluster": "fly_1.mp4", "arm": "blind"}
    ending = {"outcome": "infra_missing" if score is None else "scored", "score": score, "answer": "A"}
    return {**common, **ending, "sample_id": sample_id, "model": model, **more}


def test_every_category_has_a_template_and_the_short_ones_three_options() -> None:
    assert set(TEMPLATES) == set(BENCHMARKS.get("urbanvideo-bench").tasks)
    three = {task for task, template in TEMPLATES.items() if template.options == 3}
    assert three == {"Proximity", "Duration", "Counterfactual"}


def test_a_question_is_asked_for_in_steps_after_the_frames(tmp_path: Path) -> None:
    publish_urban(tmp_path)
    (tmp_path / "destinations.json").write_text(json.dumps({"fly_1.mp4": "the roof with a dome"}))
    media = MediaStore(tmp_path / "media")
    samples = BENCHMARKS.get("urbanvideo-authoring").open(
        data=tmp_path, select=Select(tasks=("Duration",)), protocol="guarded", media=media
    )
    assert sorted(ref.sample_id for ref in samples.refs) == ["fly_1.mp4|Duration", "fly_2.mp4|Duration"]
    first, lists, question = steps_of(samples.get("fly_1.mp4|Duration").messages())
    blocks = first[0]["content"]
    assert isinstance(blocks, list)
    assert len([block for block in blocks if block["type"] == "image"]) == 32
    assert "the roof with a dome" in str(blocks)
    assert "JSON" in str(lists)
    assert "Give 3 options" in str(question)
    assert "JSON" not in str(blocks)


@pytest.mark.parametrize(
    ("response", "fault"),
    [
        ("Certainly, here it is!", "no line `Answer: X`"),
        (GOOD.replace("Answer: B", "Answer: E"), "the answer E is not among the options"),
        (GOOD.replace("B. Street\n", ""), "0 options, not 3"),
        (GOOD.replace("Street", "roof"), "two options are the same, or one is empty"),
        ("Choices:\nA. 1\nB. 2\nC. 3\nAnswer: A", "no question before the options"),
    ],
)
def test_what_keeps_no_form_is_no_question(response: str, fault: str) -> None:
    assert read_written(response, options=3) == fault
    score = BENCHMARKS.get("urbanvideo-authoring").score_record(
        {"task": "Duration", "response": response}, scoring="strict"
    )
    assert (score.value, score.metrics["fault"]) == (0.0, fault)


def test_talk_around_a_question_is_left_out() -> None:
    told = read_written(f"Here is one.\n**{GOOD.replace('Answer: B', '**Answer:** B')}", options=3)
    assert told == Written(question="Where does it end?\nChoices:\nA. Roof\nB. Street\nC. Park", answer="B")


def test_harvested_questions_are_a_published_file(tmp_path: Path) -> None:
    data = publish_urban(tmp_path / "data")
    benchmark = BENCHMARKS.get("urbanvideo-authoring")
    answer = benchmark.score_record({"task": "Duration", "response": GOOD}, scoring="strict").answer
    rows = [
        row(
            "fly_1.mp4|Duration", model, 1.0, benchmark="urbanvideo-authoring", task="Duration", answer=answer
        )
        for model in ("m1", "m2")
    ]
    rows.append(row("fly_2.mp4|Causal", "m1", 0.0, benchmark="urbanvideo-authoring"))
    assert write_harvest(rows, data=data, out=tmp_path / "out") == 1
    samples = BENCHMARKS.get("urbanvideo-bench").open(
        data=tmp_path / "out", select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    assert not samples.faults
    sample = samples.get("0")
    assert (sample.ref.task, sample.ref.cluster, sample.broken) == ("Duration", "fly_1.mp4", "")
    with pytest.raises(SpecError, match="new or empty"):
        write_harvest(rows, data=data, out=tmp_path / "out")


def test_only_what_every_model_guesses_every_time_is_dropped(tmp_path: Path) -> None:
    rows = [
        *(row("0", model, 1.0) for model in ("m1", "m2", "m1")),
        *(row("1", model, score) for model, score in (("m1", 1.0), ("m2", 0.0))),
        *(row("2", model, score) for model, score in (("m1", 1.0), ("m2", None))),
    ]
    verdict = judged(rows)
    assert (verdict.dropped, verdict.kept, verdict.unasked) == ({"0"}, {"1", "2"}, {"2"})
    data = publish_urban(tmp_path / "data")
    assert write_filtered(verdict, benchmark="urbanvideo-bench", data=data, out=tmp_path / "out") == 2
    left = [found["Question_id"] for found in read_rows(tmp_path / "out" / "MCQ.parquet")]
    assert left == [1, 2]
    assert pq.read_schema(tmp_path / "out" / "MCQ.parquet").names == list(URBAN_ROWS[0])
    assert (tmp_path / "out" / "videos" / "fly_1.mp4").is_file()
    assert not judged([row("0", "m1", None), row("1", "m1", 1.0)]).dropped - {"1"}


def test_rows_are_read_and_others_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.ndjson"
    file.write_text("\n".join(json.dumps(row("0", "m", 1.0, arm=arm)) for arm in ("blind", "raw")))
    assert len(read_result_rows((file,), arm="blind")) == 1
    with pytest.raises(DataError, match="urbanvideo-bench/blind, urbanvideo-bench/raw"):
        read_result_rows((file,), arm="none")
    file.write_text('{"score": 1}')
    with pytest.raises(DataError, match="line 1"):
        read_result_rows((file,))
    with pytest.raises(DataError, match="several benchmarks"):
        judged([row("0", "m", 1.0), row("0", "m", 1.0, benchmark="sti-bench")])
