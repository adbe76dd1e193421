"""What a protocol sets beside the words of its prompt: decoding, frames, language, questions together."""

from pathlib import Path
from typing import Any

import pytest

from gnomon.core.benchmark import BENCHMARKS, PromptProtocol, SampleSet
from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.frame_rules import PerSecond
from gnomon.media.video import Video
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from gnomon_published.benchmarks.urbanvideo_bench.prompt import answer_to
from tests.numbered import number_of
from tests.published_clips import URBAN_ROWS, publish_sti, publish_urban
from tests.published_graphs import publish_escher, publish_vir

PUBLISH = {
    "urbanvideo-bench": publish_urban,
    "sti-bench": publish_sti,
    "escherverse": publish_escher,
    "vir-bench": publish_vir,
}
PAPER = ("escherverse", "sti-bench", "urbanvideo-bench")


def opened(name: str, folder: Path, media: MediaStore, protocol: PromptProtocol, **select: Any) -> SampleSet:
    benchmark = BENCHMARKS.get(name)
    return benchmark.open(data=folder / name, select=Select(**select), protocol=protocol, media=media)


def numbers(sample: Sample, media: MediaStore) -> list[int]:
    refs = [part.content for part in sample.parts if not isinstance(part.content, str)]
    return [number_of(media.read(ref.sha256)) for ref in refs]


def words(sample: Sample) -> str:
    return "\n".join(part.content for part in sample.parts if isinstance(part.content, str))


def spec_of(name: str, **given: Any) -> JobSpec:
    job = {
        "benchmark": name,
        "data": "somewhere",
        "models": [{"id": "openai/m"}],
        "arms": [{"name": "raw", "agent": "direct"}],
        **given,
    }
    return parse_spec(job, agents=("direct",))


@pytest.mark.parametrize(
    ("name", "protocol", "task", "drawn"),
    [
        ("gtr-bench", "official", "GeoLocation", {"temperature": 0.1, "max_tokens": 16_384}),
        ("vir-bench", "official", "node", {"temperature": 0.0, "max_tokens": 1_024}),
        ("vir-bench", "official", "edge", {"temperature": 0.0, "max_tokens": 4_096}),
        ("escherverse", "official", "ego_allo", {"temperature": 0.0, "max_tokens": 4_096}),
        ("escherverse", "paper", "ego_allo", {"temperature": 0.0, "max_tokens": 8_192}),
        ("urbanvideo-bench", "official", "Causal", {}),
        ("urbanvideo-bench", "paper", "Causal", {}),
        ("sti-bench", "official", "Spatial Relation", {"temperature": 0.0, "top_p": 1.0, "max_tokens": 100}),
        ("sti-bench", "paper", "Spatial Relation", {}),
        ("sti-bench", "guarded", "Spatial Relation", {}),
    ],
)
def test_a_frozen_spec_holds_the_protocols_decoding(
    name: str, protocol: str, task: str, drawn: dict[str, float]
) -> None:
    spec = spec_of(name, protocol=protocol)
    assert spec.decoding_of(task).known() == drawn
    again = parse_spec(spec.model_dump(mode="json"), agents=("direct",))
    assert again == spec


def test_a_specs_own_decoding_stands_and_an_empty_one_sets_nothing() -> None:
    own = spec_of("vir-bench", protocol="official", decoding={"all": {"max_tokens": 9}})
    assert own.decoding_of("edge").known() == {"max_tokens": 9}
    assert (
        spec_of("sti-bench", protocol="official", decoding={}).decoding_of("Spatial Relation").known() == {}
    )
    both = {"all": {"max_tokens": 9}, "node": {"temperature": 1}}
    assert spec_of("vir-bench", decoding=both).decoding_of("node").known() == {"temperature": 1.0}


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"decoding": {"Cooking": {}}}, "decoding", "all, Dimensional Measurement"),
        ({"decoding": {"all": {"tokens": 5}}}, "decoding.all.tokens", "Allowed here: temperature, top_p"),
        ({"decoding": {"all": {"max_tokens": 0}}}, "decoding.all.max_tokens", "greater than 0"),
        ({"select": {"frames": 8, "fps": 1}}, "select", "not both"),
        ({"select": {"frames": 0}}, "select.frames", "greater than 0"),
        ({"select": {"language": "ja"}}, "select.language", "allowed: fps, frames"),
        ({"select": {"language": "fr"}}, "select.language", "'en' or 'ja'"),
        ({"select": {"together": True}}, "select.together", "sti-bench has no together"),
        ({"benchmark": "vir-bench", "protocol": "paper"}, "protocol", "allowed: official, guarded"),
        (
            {"benchmark": "itinerary", "select": {"frames": 8}},
            "select.frames",
            "itinerary has no frames to choose; leave it out",
        ),
        ({"benchmark": "urbanvideo-bench", "select": {"together": True}}, "select.together", "paper"),
    ],
)
def test_what_cannot_be_varied_is_refused_by_field(given: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(**{"name": "sti-bench", **given} if "benchmark" not in given else _named(given))
    assert caught.value.field == field
    assert says in caught.value.message


def _named(given: dict[str, Any]) -> dict[str, Any]:
    return {"name": given["benchmark"], **{key: value for key, value in given.items() if key != "benchmark"}}


@pytest.mark.parametrize("protocol", ["official", "guarded", "paper"])
@pytest.mark.parametrize("name", PAPER)
def test_a_job_may_ask_for_other_frames(
    folder: Path, media: MediaStore, name: str, protocol: PromptProtocol
) -> None:
    few = opened(name, folder, media, protocol, frames=5)
    every_second = opened(name, folder, media, protocol, fps=1)
    for ref in few.refs:
        found = numbers(few.get(ref.sample_id), media)
        assert 3 <= len(found) <= 5  # a stride of whole frames may give fewer
        assert found == sorted(set(found))
    shown = [numbers(every_second.get(ref.sample_id), media) for ref in every_second.refs]
    assert all(found == list(range(0, 10 * len(found), 10)) for found in shown)  # of ten frames a second
    assert max(len(found) for found in shown) >= 4


def test_vir_takes_the_frame_counts_that_its_models_had(folder: Path, media: MediaStore) -> None:
    usual = opened("vir-bench", folder, media, "official")
    fewer = opened("vir-bench", folder, media, "official", frames=8)
    sample_id = usual.refs[0].sample_id
    assert len(numbers(usual.get(sample_id), media)) > len(numbers(fewer.get(sample_id), media)) == 8


def test_more_frames_than_any_model_takes_are_refused(folder: Path, media: MediaStore) -> None:
    samples = opened("sti-bench", folder, media, "guarded", fps=60.0)
    sample = samples.get(next(ref.sample_id for ref in samples.refs if "camera_7" in ref.sample_id))
    assert numbers(sample, media) == list(range(59))  # each frame once
    times_s = tuple(float(second) for second in range(100))
    long = Video(
        times_s=times_s,
        announced=100,
        hidden=0,
        fps=1.0,
        seconds=100.0,
        width=1,
        height=1,
        stamps=(),
        keyframes=(),
    )
    assert list(PerSecond(0.5).pick(long)) == list(range(0, 100, 2))
    with pytest.raises(DataError, match=r"6,000; allowed: 4,096"):
        PerSecond(60.0).pick(long)


def test_stis_paper_spreads_its_frames_over_the_whole_clip_in_right_colours(
    folder: Path, media: MediaStore
) -> None:
    samples = opened("sti-bench", folder, media, "paper")
    sample = next(samples.get(ref.sample_id) for ref in samples.refs if "camera_7" in ref.sample_id)
    assert numbers(sample, media)[-1] == 58  # of 59; the released script stops at 29
    assert "about 5.08 FPS" in words(sample)
    assert "From 1.0 seconds to 3.5 seconds. What is the average speed" in words(sample)


def test_urbans_paper_asks_one_question_or_all_of_a_clip(folder: Path, media: MediaStore) -> None:
    benchmark = BENCHMARKS.get("urbanvideo-bench")
    single = opened("urbanvideo-bench", folder, media, "paper").get("0")
    assert URBAN_ROWS[0]["question"] in words(single)
    assert URBAN_ROWS[2]["question"] not in words(single)
    both = opened("urbanvideo-bench", folder, media, "paper", together=True, limit=1)
    samples = opened("urbanvideo-bench", folder, media, "paper", together=True)
    assert len(both.refs) == 1
    for number, sample_id in enumerate(("0", "2")):  # both ask about fly_1.mp4
        sample = samples.get(sample_id)
        assert all(URBAN_ROWS[row]["question"] in words(sample) for row in (0, 2))
        assert "QA0: Option: []; Reason: [] QA1: Option: []; Reason: []" in words(sample)
        gold = URBAN_ROWS[int(sample_id)]["answer"]
        reply = " ".join(f"QA{at}: Option: [{gold if at == number else 'J'}]; Reason: x" for at in (0, 1))
        for scoring in ("official", "strict"):
            score = benchmark.score(sample, reply, scoring=scoring)  # type: ignore[arg-type]
            readable = scoring == "official" or sample_id == "0"  # question 2 has no options to choose from
            assert (score.value == 1.0) == readable
        silent = benchmark.score(sample, f"Option: {gold}", scoring="official")
        assert (silent.value, silent.flags) == (0.0, ("no_answer",))


def test_an_answer_is_found_by_its_number() -> None:
    reply = "QA0: Option: A; Reason: as in QA 1\nQA1: Option: B\nQA10: Option: C"
    assert [answer_to(at, reply) for at in (0, 1, 10, 2)] == [
        "Option: A; Reason: as in QA 1",
        "Option: B",
        "Option: C",
        None,
    ]


def test_vir_asks_in_japanese_by_japanese_names(folder: Path, media: MediaStore) -> None:
    benchmark = BENCHMARKS.get("vir-bench")
    for protocol in ("official", "guarded"):
        samples = opened("vir-bench", folder, media, protocol, language="ja")  # type: ignore[arg-type]
        edge, node = samples.get("kansai_01.edge"), samples.get("kansai_01.node")
        assert "不明 (restaurant)" in words(edge)
        assert "大阪府" in words(edge)
        assert "Namba Station" not in words(edge)
        assert "都道府県" in words(node)
        gold = {"edges": edge.target["journey"].gold_edges()}
        assert {one["source"] for one in gold["edges"]} >= {"大阪府", "大阪市"}
        for scoring in ("official", "strict"):
            score = benchmark.score(edge, str(gold).replace("'", '"'), scoring=scoring)  # type: ignore[arg-type]
            assert score.value == 1.0
            assert "なんば駅" in str(score.metrics["graph"])
        english = opened("vir-bench", folder, media, protocol).get("kansai_01.edge")  # type: ignore[arg-type]
        assert benchmark.score(english, str(gold).replace("'", '"'), scoring="official").value == 0.0
