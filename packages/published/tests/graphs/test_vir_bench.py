"""VIR-Bench from its published files: samples, prompts, scores."""

import ast
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.conditions.wording import worded
from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.core.words import JSON_CLOSING, JSON_ONLY
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon_published.benchmarks.vir_bench import vir_bench
from gnomon_published.benchmarks.vir_bench.journey import journey_from_json
from gnomon_published.benchmarks.vir_bench.prompt import nodes_given, unshuffled
from gnomon_published.gazetteer.japan import Gazetteer
from tests.numbered import number_of
from tests.published_graphs import KANSAI, KANTO, VIR_ROWS, publish_vir

GOLD = {
    "prefectures": ["Osaka", "Nara"],
    "cities": ["Osaka", "Nara"],
    "points_of_interest": [
        "Namba Station (train_station)",
        "Glico Running Man Sign (tourist_attraction)",
        "Starbucks (cafe)",
        "Todai-ji (place_of_worship)",
    ],
}


@pytest.fixture
def media(tmp_path: Path) -> MediaStore:
    return MediaStore(tmp_path / "media")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_vir(tmp_path_factory.mktemp("vir"))


def opened(folder: Path, media: MediaStore, protocol: str = "guarded", **select: Any) -> Any:
    return vir_bench.open(data=folder, select=Select(**select), protocol=protocol, media=media)  # type: ignore[arg-type]


def shown(sample: Sample, media: MediaStore) -> list[int]:
    blocks = sample.messages()[0]["content"]
    assert isinstance(blocks, list)
    return [number_of(media.read(block["sha256"])) for block in blocks if block["type"] == "image"]


def text_of(sample: Sample) -> str:
    return "\n".join(part.content for part in sample.parts if isinstance(part.content, str))


def test_each_video_is_asked_for_nodes_and_edges_and_clusters_its_questions(
    published: Path, media: MediaStore
) -> None:
    samples = opened(published, media)
    assert {(ref.sample_id, ref.cell, ref.cluster) for ref in samples.refs} == {
        (f"{video}.{task}", task, video) for video in ("kansai_01", "kanto-02") for task in ("node", "edge")
    }
    assert [ref.sample_id for ref in opened(published, media, scenes=("test",), tasks=("edge",)).refs] == [
        "kansai_01.edge"
    ]
    assert opened(published, media, limit=2).refs == samples.refs[:2]
    assert not [fault for fault in samples.faults if fault.kind in {"malformed", "media"}]


def test_the_official_frames_run_evenly_from_the_first_to_the_last(
    published: Path, media: MediaStore
) -> None:
    samples = opened(published, media, "official")
    assert shown(samples.get("kansai_01.node"), media) == np.linspace(0, 299, 256, dtype=int).tolist()
    assert shown(samples.get("kanto-02.edge"), media) == list(range(40))


@pytest.mark.parametrize(
    ("protocol", "select", "scenes"),
    [
        ("official", {}, ["test"]),
        ("official", {"scenes": ["validation"]}, ["validation"]),
        ("official", {"scenes": ["test", "validation"]}, ["test", "validation"]),
        ("guarded", {}, []),
    ],
)
def test_official_asks_the_test_split_alone_unless_the_spec_names_another(
    protocol: str, select: dict[str, Any], scenes: list[str]
) -> None:
    spec = {
        "benchmark": "vir-bench",
        "data": "published",
        "protocol": protocol,
        "select": select,
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}],
    }
    assert list(parse_spec(spec, agents=("direct",)).select.scenes) == scenes


def test_guarded_prompts_ask_for_json_at_the_end_and_those_of_earlier_words_for_json_alone(
    published: Path, media: MediaStore
) -> None:
    guarded, official_set = opened(published, media), opened(published, media, "official")
    for subtask in ("node", "edge"):
        sample = guarded.get(f"kansai_01.{subtask}")
        before = worded(sample, "original", vir_bench, words=4)
        official = text_of(official_set.get(f"kansai_01.{subtask}"))
        assert text_of(sample).endswith(JSON_CLOSING)
        assert text_of(before).endswith(JSON_ONLY)
        assert official.endswith(JSON_ONLY)


def test_the_guarded_frames_are_the_middles_of_equal_spans(published: Path, media: MediaStore) -> None:
    sample = opened(published, media).get("kansai_01.node")
    assert shown(sample, media) == [int((step + 0.5) * 300 / 64) for step in range(64)]
    assert "0.20 s" in text_of(sample)
    assert sample.find(Gazetteer)


def test_the_released_shuffle_can_be_undone_and_the_guarded_order_tells_nothing(
    published: Path, media: MediaStore
) -> None:
    journey = journey_from_json(KANSAI)
    in_time = {
        level: [spot.name() for spot in journey.at(level)] for level in nodes_given(journey, "official")
    }
    assert unshuffled(nodes_given(journey, "official")) == in_time
    reversed_nodes = deepcopy(KANSAI)
    for column in ("id", "type", "display_name", "attributes"):
        reversed_nodes["nodes"][column].reverse()
    assert nodes_given(journey_from_json(reversed_nodes), "guarded") == nodes_given(journey, "guarded")
    official = text_of(opened(published, media, "official").get("kansai_01.edge"))
    listed = next(line for line in official.splitlines() if line.startswith("{'prefectures'"))
    assert ast.literal_eval(listed) == nodes_given(journey, "official")
    guarded = text_of(opened(published, media).get("kansai_01.edge"))
    assert "Unknown (restaurant)" in guarded
    assert "kansai_01" not in guarded
    assert json.loads(guarded.split("```json\n")[1].split("\n```")[0]) == nodes_given(journey, "guarded")


def test_an_absent_or_broken_video_is_named_and_its_sample_is_broken(
    tmp_path: Path, media: MediaStore
) -> None:
    folder = publish_vir(tmp_path / "vir", clips=False)
    (folder / "videos").mkdir()
    (folder / "videos" / "kanto-02.mp4").write_bytes(b"no video")
    samples = opened(folder, media)
    (told,) = [fault.detail for fault in samples.faults if fault.kind == "media"]
    assert told.startswith(
        "2 of 4 samples are without their video: 1 of 2 videos are absent, first kansai_01"
    )
    assert told.endswith("looked in videos/, video/, clips/ and beside the table")
    for sample_id, why in (("kansai_01.node", "absent"), ("kanto-02.node", "cannot be read")):
        sample = samples.get(sample_id)
        assert why in sample.broken
        assert sample.missing == (f"{sample.ref.cluster}.mp4",)
        assert "list every location" in text_of(sample)


def _rows(*graphs: Any) -> list[dict[str, Any]]:
    return [{"video_id": f"v{number}", "graph": graph} for number, graph in enumerate(graphs)]


def test_malformed_rows_are_named_and_the_others_asked(tmp_path: Path, media: MediaStore) -> None:
    bad_text, bad_edge, short, no_gold = (deepcopy(KANTO) for _ in range(4))
    bad_text["nodes"]["display_name"][1] = "__import__('os').getcwd()"
    bad_edge["edges"]["target"][0] = "99"
    short["nodes"]["type"].pop()
    no_gold["nodes"] = {name: column[:1] for name, column in KANTO["nodes"].items()}
    no_gold["edges"] = {name: [] for name in KANTO["edges"]}
    rows = [
        *_rows(bad_text, bad_edge, short),
        {"video_id": "v0", "graph": KANTO},
        {"video_id": None, "graph": KANTO},
    ]
    rows += [{"video_id": "v0", "graph": KANSAI}, {"video_id": "empty", "graph": no_gold}]
    samples = opened(publish_vir(tmp_path / "vir", rows, clips=False), media)
    kinds = [(fault.sample_id, fault.kind) for fault in samples.faults]
    assert {("v0", "malformed"), ("v1", "malformed"), ("v2", "malformed"), ("v0", "duplicate")} <= set(kinds)
    assert ("test-00000-of-00001.parquet[4]", "malformed") in kinds
    assert {("empty.node", "gold"), ("empty.edge", "gold")} <= set(kinds)
    assert {ref.cluster for ref in samples.refs} == {"v0", "empty"}
    details = " ".join(fault.detail for fault in samples.faults)
    for name in ("display_name", "graph.edges", "graph.nodes", "video_id"):
        assert name in details


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path, media: MediaStore) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test-00000-of-00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="Parquet"):
        opened(tmp_path, media)


def _score(subtask: str, response: Any, scoring: str = "strict", graph: Any = KANSAI) -> Any:
    text = response if isinstance(response, str) or response is None else json.dumps(response)
    record = {"subtask": subtask, "graph": graph, "response": text}
    return vir_bench.score_record(record, scoring=scoring)  # type: ignore[arg-type]


@pytest.mark.parametrize("scoring", ["official", "strict"])
def test_gold_scores_one(scoring: str) -> None:
    assert _score("node", GOLD, scoring).value == 1.0
    assert _score("edge", {"edges": journey_from_json(KANSAI).gold_edges()}, scoring).value == 1.0


def test_strict_forgives_spelling_and_official_does_not() -> None:
    spelt = {
        "prefectures": ["Osaka Prefecture", "奈良県"],
        "cities": ["Ōsaka City", "Nara-shi"],
        "points_of_interest": GOLD["points_of_interest"],
    }
    assert _score("node", f"<think>Tokyo?</think> Here: {json.dumps(spelt)} Enjoy!").value == 1.0
    official = _score("node", spelt, "official")
    assert official.metrics["cities.f1"] == 0.0
    assert official.metrics["prefectures.f1"] == 0.5


def test_both_languages_of_one_place_cost_nothing_in_strict() -> None:
    both = {**GOLD, "prefectures": ["Osaka", "大阪府", "Nara"]}
    assert _score("node", both).metrics["prefectures.precision"] == 1.0
    assert _score("node", both, "official").metrics["prefectures.precision"] == pytest.approx(2 / 3)


def test_places_are_matched_so_that_most_fit() -> None:
    two = deepcopy(KANTO)
    for number, name in ((4, "Shibuya Station Exit"), (5, "Shibuya Station")):
        two["nodes"]["display_name"][number] = str({"ja": "", "en": name})
        two["nodes"]["attributes"][number] = two["nodes"]["attributes"][4]
    reply = {"prefectures": ["Tokyo"], "cities": ["Shibuya", "Shinjuku"]}
    reply["points_of_interest"] = ["Shibuya Station", "Shibuya Station Exit Hachiko"]
    assert _score("node", reply, graph=two).metrics["points_of_interest.f1"] == 1.0


def _doubled() -> dict[str, Any]:
    twice = deepcopy(KANTO)
    for number in (4, 5):
        twice["nodes"]["attributes"][number] = twice["nodes"]["attributes"][4].replace(
            "'is_unknown': False", "'is_unknown': True"
        )
    twice["edges"]["source"][4] = "2"
    return twice


def test_one_edge_that_fits_two_golds_passes_one_officially_and_is_flagged() -> None:
    edge = {"source": "Shibuya", "target": "Unknown (train_station)", "type": "inclusion"}
    official = _score("edge", {"edges": [edge]}, "official", _doubled())
    assert official.metrics["inclusion.precision"] == 2.0
    assert "gamed:above_one" in official.flags
    strict = _score("edge", {"edges": [edge]}, "strict", _doubled())
    assert strict.metrics["inclusion.precision"] == 1.0
    assert strict.metrics["inclusion.recall"] == pytest.approx(1 / 4)


def test_what_crashes_the_released_code_scores_zero_and_is_named() -> None:
    for response, error in (
        ({"prefectures": None}, "TypeError"),
        ({"points_of_interest": [3]}, "TypeError"),
    ):
        score = _score("node", response, "official")
        assert (score.value, score.flags) == (0.0, (f"official_raises:{error}",))
    assert _score("edge", {"edges": 3}, "official").flags == ("official_raises:TypeError",)


def test_a_reply_without_an_answer_is_no_answer() -> None:
    for subtask in ("node", "edge"):
        for scoring in ("official", "strict"):
            score = _score(subtask, "I cannot tell.", scoring)
            assert (score.value, score.answer) == (0.0, None)
            assert "no_answer" in score.flags
            assert _score(subtask, None, scoring).value == 0.0


def test_bad_records_are_refused_by_field() -> None:
    for record, field in (
        ({"subtask": "both", "graph": KANTO, "response": ""}, "subtask"),
        ({"subtask": "node", "graph": KANTO}, "response"),
        ({"subtask": "node", "graph": {"nodes": 3}, "response": ""}, "graph.nodes"),
    ):
        with pytest.raises(SpecError) as caught:
            vir_bench.score_record(record, scoring="strict")
        assert caught.value.field == field


texts = (
    st.sampled_from(["Osaka", "Nara", "大阪市", "Namba Station (train_station)", "inclusion", ""]) | st.text()
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["prefectures", "cities", "points_of_interest", "edges", "source", "target", "type"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(values.map(json.dumps) | st.text(), st.sampled_from(["node", "edge"]))
def test_whatever_a_model_writes_gets_a_score(response: str, subtask: str) -> None:
    for scoring in ("official", "strict"):
        for graph in (KANSAI, _doubled()):
            score = _score(subtask, response, scoring, graph)
            assert score.value is not None
            assert 0.0 <= score.value <= 1.0


def test_the_rows_of_the_copy_are_read_whole() -> None:
    assert [journey_from_json(row["graph"]).at("prefectures")[0].en for row in VIR_ROWS] == ["Osaka", "Tokyo"]
    assert len(journey_from_json(KANSAI).gold_links()) == 2 + 4 + 1 + 4
