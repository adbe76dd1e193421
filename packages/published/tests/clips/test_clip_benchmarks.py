"""UrbanVideo-Bench and STI-Bench from files as published: rows, frames, prompts, faults, scores."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gnomon.core.benchmark import BENCHMARKS, PromptProtocol, SampleSet
from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.core.transforms import Transforms
from gnomon.media import MediaStore
from gnomon.media.clip_samples import shuffle_options
from gnomon_analyses.audit.audit import audit
from gnomon_published.benchmarks.urbanvideo_bench.loader import split_question
from tests.numbered import number_of
from tests.published_clips import STI_ROWS, URBAN_ROWS, publish_sti, publish_urban

PUBLISH = {"urbanvideo-bench": publish_urban, "sti-bench": publish_sti}
ROWS = {"urbanvideo-bench": URBAN_ROWS, "sti-bench": STI_ROWS}
every = pytest.mark.parametrize("name", list(PUBLISH))


def opened(
    name: str, data: Path, media: MediaStore, protocol: PromptProtocol = "guarded", **select: Any
) -> SampleSet:
    return BENCHMARKS.get(name).open(data=data, select=Select(**select), protocol=protocol, media=media)


def images(sample: Sample, media: MediaStore) -> list[bytes]:
    return [media.read(part.content.sha256) for part in sample.parts if not isinstance(part.content, str)]


def words(sample: Sample) -> str:
    return "\n".join(part.content for part in sample.parts if isinstance(part.content, str))


def one(samples: SampleSet, start: str) -> Sample:
    return samples.get(next(ref.sample_id for ref in samples.refs if ref.sample_id.startswith(start)))


@pytest.mark.parametrize(
    ("name", "start", "official"),
    [
        ("urbanvideo-bench", "0", list(range(0, 70, 3))),  # ⌈70 / 32⌉ = 3: 24 frames
        ("urbanvideo-bench", "1", list(range(0, 33, 2))),  # 33 frames give 17
        ("sti-bench", "camera", list(range(30))),  # ⌊59 / 30⌋ = 1: the second half goes unseen
        ("sti-bench", "000123", list(range(0, 90, 3))),
    ],
)
def test_the_frames_sent_are_the_officials_and_the_evenly_spaced(
    folder: Path, media: MediaStore, name: str, start: str, official: list[int]
) -> None:
    sample = one(opened(name, folder / name, media, "official"), start)
    assert [number_of(data) for data in images(sample, media)] == official
    guarded = [number_of(data) for data in images(one(opened(name, folder / name, media), start), media)]
    count = {"urbanvideo-bench": 32, "sti-bench": 30}[name]
    frames = {"0": 70, "1": 33, "camera": 59, "000123": 95}[start]
    assert guarded == [int((step + 0.5) * frames / count + 1e-6) for step in range(count)]


@every
def test_the_official_prompt_holds_the_published_question_and_no_answer(
    folder: Path, media: MediaStore, name: str
) -> None:
    samples = opened(name, folder / name, media, "official")
    assert len(samples.refs) == len(ROWS[name])
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        row = next(row for row in ROWS[name] if _id(name, row) == ref.sample_id)
        assert (row.get("question") or row["Question"]) in words(sample)
        assert isinstance(sample.parts[0].content, str)
        assert not any(isinstance(part.content, str) for part in sample.parts[1:])
        assert ref.cluster == (row.get("video_id") or row.get("Video"))
        assert ref.cluster not in json.dumps(sample.messages())


def _id(name: str, row: dict[str, Any]) -> str:
    if name == "urbanvideo-bench":
        return str(row["Question_id"])
    return f"{row['Video']}|{row['ID']}|{row['time_start']}|{row['time_end']}"


def test_sti_tells_rate_and_window_and_sends_its_colours(folder: Path, media: MediaStore) -> None:
    sample = one(opened("sti-bench", folder / "sti-bench", media, "official"), "000123")
    assert "about 3.33 FPS" in words(sample)
    assert "From 0.0 seconds to 2.0 seconds. Where is the bag?" in words(sample)
    assert 'A {"C_lwh": [1, 2, 3]}' in words(sample)
    guarded = one(opened("sti-bench", folder / "sti-bench", media), "000123")
    for shown, (strong, weak) in ((sample, (2, 0)), (guarded, (0, 2))):
        pixel = np.asarray(Image.open(io.BytesIO(images(shown, media)[0])))[80, 80]
        assert pixel[strong] > 150 > pixel[weak]
    assert "1.70 s" in words(guarded)


def test_urbans_guard_deals_the_letters_anew_and_scores_by_them(folder: Path, media: MediaStore) -> None:
    benchmark = BENCHMARKS.get("urbanvideo-bench")
    samples = opened("urbanvideo-bench", folder / "urbanvideo-bench", media)
    assert sorted(ref.sample_id for ref in samples.refs) == ["0", "1"]  # the one without options is left out
    sample = samples.get("1")
    asked, options = split_question(URBAN_ROWS[1]["question"])
    letters, gold = shuffle_options(asked, options, "F")
    assert letters[gold] == "Action F"
    assert f"{gold}. Action F" in words(sample)
    assert benchmark.score(sample, f"Option: {gold}; Reason: x", scoring="strict").value == 1.0
    assert benchmark.score(sample, "Action F", scoring="strict").value == 1.0
    assert benchmark.score(sample, f"Option: [{gold}]", scoring="official").value == 1.0
    official = opened("urbanvideo-bench", folder / "urbanvideo-bench", media, "official").get("1")
    assert benchmark.score(official, "Option: F", scoring="official").value == 1.0


def test_stis_guard_deals_the_letters_anew_and_gold_follows_its_text(folder: Path, media: MediaStore) -> None:
    benchmark, right = BENCHMARKS.get("sti-bench"), '{"C_lwh": [1, 2, 3]}'
    sample = one(opened("sti-bench", folder / "sti-bench", media), "000123")
    lines = dict(line.split(". ", 1) for line in words(sample).splitlines() if line[1:3] == ". ")
    letter = next(letter for letter, text in lines.items() if text == right)
    assert letter != "A"  # as published
    for scoring in ("official", "strict"):
        assert benchmark.score(sample, letter, scoring=scoring).value == 1.0  # type: ignore[arg-type]
        assert benchmark.score(sample, "A", scoring=scoring).value == 0.0  # type: ignore[arg-type]


@every
def test_a_clip_that_is_absent_or_broken_ends_no_run(tmp_path: Path, media: MediaStore, name: str) -> None:
    data = PUBLISH[name](tmp_path / "data", clips=False)
    samples = opened(name, data, media)
    assert {fault.kind for fault in samples.faults} >= {"clip"}
    sample = samples.get(samples.refs[0].sample_id)
    assert sample.missing
    assert "is absent" in sample.broken
    assert not images(sample, media)
    clips = data / ("videos" if name == "urbanvideo-bench" else "video")
    clips.mkdir()
    (clips / sample.ref.cluster).write_bytes(b"not a video")
    assert "cannot be read as video" in samples.get(sample.ref.sample_id).broken
    official = opened(name, data, media, "official")
    blind = official.get(sample.ref.sample_id)
    assert bool(blind.broken) == (name == "urbanvideo-bench")  # STI's script asks all the same
    if name == "sti-bench":
        assert "about 0.00 FPS" in words(blind)


@pytest.mark.parametrize(
    ("name", "change", "kind", "told"),
    [
        ("urbanvideo-bench", {"answer": "yes"}, "malformed", "answer: 'yes' is no letter"),
        ("urbanvideo-bench", {"answer": None}, "malformed", "answer: absent or empty"),
        ("urbanvideo-bench", {"question_category": "Cooking"}, "malformed", "no task 'Cooking'"),
        ("urbanvideo-bench", {"Question_id": 1}, "duplicate", "repeats a Question_id"),
        ("urbanvideo-bench", {"answer": "H"}, "gold_not_offered", "H is not among"),
        ("sti-bench", {"Candidates": "{broken"}, "malformed", "Candidates: no options"),
        ("sti-bench", {"Answer": "F"}, "malformed", "'F' is none of A, B, C, D, E"),
        ("sti-bench", {"time_end": None}, "malformed", "time_end: absent"),
        ("sti-bench", {"time_start": -1.0}, "malformed", "-1.0 is no time"),
        ("sti-bench", {"Task": "Cooking"}, "unknown_task", "a cell of its own"),
    ],
)
def test_a_bad_row_is_counted_and_named(
    tmp_path: Path, media: MediaStore, name: str, change: dict[str, Any], kind: str, told: str
) -> None:
    first, *rest = ROWS[name]
    data = PUBLISH[name](tmp_path, [{**first, **change}, *rest], clips=False)
    found = [fault for fault in opened(name, data, media, "official").faults if fault.kind == kind]
    assert told in found[0].detail


@every
def test_a_missing_column_or_a_broken_file_is_said(tmp_path: Path, media: MediaStore, name: str) -> None:
    column = "question_category" if name == "urbanvideo-bench" else "Task"
    rows = [{key: value for key, value in row.items() if key != column} for row in ROWS[name]]
    data = PUBLISH[name](tmp_path, rows, clips=False)
    samples = opened(name, data, media)
    assert not samples.refs
    assert len([fault for fault in samples.faults if fault.detail == f"{column}: absent or empty"]) == len(
        rows
    )
    next(data.glob("*.parquet")).write_bytes(b"PAR1 nonsense")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        opened(name, data, media)


@every
def test_a_clips_name_cannot_lead_out_of_the_folder(tmp_path: Path, media: MediaStore, name: str) -> None:
    column = "video_id" if name == "urbanvideo-bench" else "Video"
    data = PUBLISH[name](tmp_path / "data", [{**ROWS[name][0], column: "../../secret.mp4"}], clips=True)
    clips = data / ("videos" if name == "urbanvideo-bench" else "video")
    next(clips.iterdir()).rename(tmp_path / "secret.mp4")
    samples = opened(name, data, media)
    assert "is absent" in samples.get(samples.refs[0].sample_id).broken


@every
@pytest.mark.parametrize("clip", ["nul\0.mp4", "x" * 5_000 + ".mp4", "/", "..", " "])
def test_a_clips_name_that_is_none_is_absent(tmp_path: Path, media: MediaStore, name: str, clip: str) -> None:
    column = "video_id" if name == "urbanvideo-bench" else "Video"
    data = PUBLISH[name](tmp_path, [{**ROWS[name][0], column: clip}, ROWS[name][1]])
    samples = opened(name, data, media)
    assert len(samples.refs) == 2
    broken = [samples.get(ref.sample_id).broken for ref in samples.refs if ref.cluster == clip]
    assert ["is absent" in one for one in broken] == [True]


@every
def test_a_text_that_is_no_utf8_costs_its_row_alone(tmp_path: Path, media: MediaStore, name: str) -> None:
    data = PUBLISH[name](tmp_path, clips=False)
    file, column = next(data.glob("*.parquet")), "question" if name == "urbanvideo-bench" else "Question"
    table = pq.read_table(file)
    texts = [b"\xff\xfe", *(text.encode() for text in table[column].to_pylist()[1:])]
    place = table.column_names.index(column)
    broken = pa.array(texts, pa.binary()).view(pa.string())
    pq.write_table(table.set_column(place, column, broken), file)
    samples = opened(name, data, media, "official")
    assert len(samples.refs) == len(ROWS[name]) - 1
    assert [fault.detail for fault in samples.faults if fault.kind == "malformed"] == [
        f"{column}: absent or empty"
    ]


@every
def test_selections_are_by_task_and_scene_and_prefixes_of_each_other(
    folder: Path, media: MediaStore, name: str
) -> None:
    everything = opened(name, folder / name, media, "official").refs
    assert list(opened(name, folder / name, media, "official", limit=1).refs) == list(everything[:1])
    task = everything[0].task
    assert {ref.task for ref in opened(name, folder / name, media, "official", tasks=(task,)).refs} == {task}
    with pytest.raises(SpecError, match=r"select\.tasks"):
        opened(name, folder / name, media, tasks=("Cooking",))
    if name == "sti-bench":
        (ref,) = opened(name, folder / name, media, scenes=("desktop",)).refs
        assert ref.sample_id.startswith("000123")


@every
def test_whatever_a_model_writes_gets_a_score_or_a_reason(folder: Path, media: MediaStore, name: str) -> None:
    benchmark = BENCHMARKS.get(name)
    samples = opened(name, folder / name, media)
    sample = samples.get(samples.refs[0].sample_id)

    @given(
        st.text()
        | st.sampled_from(["Option: ", "Answer: ", "(", "<answer>"]).flatmap(
            lambda start: st.text(max_size=5).map(lambda rest: start + rest)
        )
    )
    def holds(response: str) -> None:
        for scoring in ("official", "strict"):
            score = benchmark.score(sample, response, scoring=scoring)
            assert score.value in (0.0, 1.0) or (score.value is None and score.reason == "dropped")

    holds()


@every
def test_the_audit_reads_the_options_of_both_prompts(folder: Path, media: MediaStore, name: str) -> None:
    found = audit(BENCHMARKS.get(name), data=folder / name, select=Select(), media=media)
    optionless = int(name == "urbanvideo-bench")
    assert sum(found.samples.values()) == 2 + optionless
    assert not found.surviving
    assert found.unread == {"official": optionless, "guarded": 0}
    assert {letters.view for letters in found.letters} == {"official", "guarded"}


def test_published_rows_are_there_and_are_micro_averages() -> None:
    urban = BENCHMARKS.get("urbanvideo-bench").published()
    assert len(urban) == 26
    best = next(row for row in urban if row.model.startswith("Qwen-VL-Max"))
    assert best.aggregate == pytest.approx(0.455)
    assert set(best.by_task) == set(BENCHMARKS.get("urbanvideo-bench").tasks)
    sti = BENCHMARKS.get("sti-bench").published()
    assert {row.group.split(",")[0] for row in sti} == {"baseline", "paper", "repository"}
    assert all(BENCHMARKS.get(name).headline == "mean_of_samples" for name in PUBLISH)


@pytest.mark.parametrize("protocol", ["guarded", "official", "paper"])
def test_options_of_sti_bench_are_dealt_out_to_other_letters(
    protocol: PromptProtocol, tmp_path: Path
) -> None:
    bench, media = BENCHMARKS.get("sti-bench"), MediaStore(tmp_path / "media")
    assert isinstance(bench, Transforms)
    samples = opened("sti-bench", publish_sti(tmp_path / "data", clips=False), media, protocol)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        question = bench.transformed(sample, "permute_options", seed=1, show=(), media=media)
        assert question.parts != sample.parts
        for letter in "ABCDE":
            old, new = question.target["letters"].get(letter, letter), letter
            scores = [
                bench.score(each, each_letter, scoring="strict").value
                for each, each_letter in ((sample, old), (question, new))
            ]
            assert scores[0] == scores[1]
            if letter in question.target["letters"]:
                assert bench.answer_in_original(question, new) == {"original_answer": old}
                text = question.target["question"].options[new]
                assert any(
                    isinstance(part.content, str) and f"\n{new}{mark}{text}\n" in part.content
                    for part in question.parts
                    for mark in (". ", " ")
                )
