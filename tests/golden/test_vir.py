"""VIR-Bench: our official scorer equals the released one on every vector there is."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon_published.benchmarks.vir_bench import official, vir_bench
from gnomon_published.benchmarks.vir_bench.journey import Journey, Spot, journey_from_json
from gnomon_published.benchmarks.vir_bench.loader import timestamps_s
from gnomon_published.benchmarks.vir_bench.official import SAFETY, ZERO, Measure, parse_reply, prediction
from gnomon_published.benchmarks.vir_bench.prompt import nodes_given

Vector = dict[str, Any]


def _vectors(folder: Path, function: str) -> list[Vector]:
    vectors: list[Vector] = json.loads((folder / "vir_scoring.json").read_text(encoding="utf-8"))
    return [vector for vector in vectors if vector["function"] == function]


def _spot(level: str, number: int, given: dict[str, Any]) -> Spot:
    return Spot(
        id=f"{level}{number}",
        level=level,  # type: ignore[arg-type]
        ja=given["display_name"].get("ja") or "",
        en=given["display_name"].get("en") or "",
        is_store_unknown=given.get("is_store_unknown", False),
        store_name=given.get("store_name", ""),
        category=given.get("category", ""),
        types=tuple(given.get("types", ())),
    )


def _gold(answer: dict[str, list[dict[str, Any]]]) -> dict[str, list[Spot]]:
    return {level: [_spot(level, n, one) for n, one in enumerate(found)] for level, found in answer.items()}


def _plain(levels: dict[str, Measure]) -> dict[str, dict[str, float]]:
    return {level: dict(found.items()) for level, found in levels.items()}


def _nodes(samples: list[dict[str, Any]]) -> dict[str, Measure]:
    asked = [sample for sample in samples if sample["parsed_pred"] != SAFETY]
    nothing = dict.fromkeys((*official.NODE_LEVELS, "overall"), ZERO)
    results = [
        nothing
        if sample["parsed_pred"] is None
        else official.node_measures(_gold(sample["answer"]), sample["parsed_pred"])
        for sample in asked
    ]
    return official.averaged(results, official.NODE_LEVELS)


def _edges(samples: list[dict[str, Any]]) -> dict[str, Measure]:
    results = [official.edge_measures(sample["answer"], sample["parsed_pred"]) for sample in samples]
    return official.averaged(results, official.EDGE_KINDS)


@pytest.mark.parametrize(
    ("function", "measures"), [("evaluate_node_prediction", _nodes), ("evaluate_edge_prediction", _edges)]
)
def test_all_levels_of_a_set_of_videos_are_the_released_ones(
    golden_dir: Path, function: str, measures: Any
) -> None:
    vectors, wrong = _vectors(golden_dir, function), []
    for vector in vectors:
        wanted = vector["official_output"]
        try:
            got: object = _plain(measures(*vector["input"]))
        except Exception as error:  # the released code raises too
            got = {"raises": type(error).__name__}
        if not _close(got, wanted):
            wrong.append((vector["tag"], wanted, got))
    assert vectors
    assert not wrong


def _close(got: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(got == (pytest.approx(wanted, abs=1e-12) if isinstance(wanted, float) else wanted))
    return set(got) == set(wanted) and all(_close(got[key], wanted[key]) for key in wanted)


def test_replies_are_parsed_as_released(golden_dir: Path) -> None:
    for vector in _vectors(golden_dir, "parse_json"):
        assert parse_reply(*vector["input"]) == vector["official_output"], vector


def test_places_are_taken_apart_and_matched_as_released(golden_dir: Path) -> None:
    for vector in _vectors(golden_dir, "parse_poi"):
        given, source = vector["input"]
        if source == "pred":
            name, category = official.split_place(given)
            got: list[Any] = [[name], None if category is None else [category]]
        else:
            spot = _spot("points_of_interest", 0, given)
            got = [official.place_names(spot), official.place_categories(spot)]
        assert got == vector["official_output"], vector
    wrong = []
    for vector in _vectors(golden_dir, "match_poi"):
        try:
            same: object = official.same_place(*vector["input"])
        except TypeError as error:
            same = {"raises": type(error).__name__}
        if same != vector["official_output"]:
            wrong.append(vector)
    assert not wrong


def test_gold_is_built_from_a_row_as_released(golden_dir: Path) -> None:
    for vector in _vectors(golden_dir, "node_prediction_process_results"):
        row, replies = vector["input"]
        wanted = vector["official_output"]["virbench_scores"]
        gold = journey_from_json(row["graph"]).gold_nodes()
        assert gold == _with_ids(gold, _gold(wanted["answer"]))
        assert (
            _as_released(prediction(replies[0]), ("prefectures", "cities", "points_of_interest"))
            == wanted["parsed_pred"]
        )
    for vector in _vectors(golden_dir, "edge_prediction_process_results"):
        row, replies = vector["input"]
        language = vector["tag"].split()[-1]
        wanted = vector["official_output"]["virbench_scores"]
        assert journey_from_json(row["graph"], language=language).gold_edges() == wanted["answer"]
        assert _as_released(prediction(replies[0]), ("edges",)) == wanted["parsed_pred"]


def _as_released(given: Any, lists: tuple[str, ...]) -> Any:
    """An empty prediction is written with empty lists, which score the same."""
    return given if given == SAFETY else given or {name: [] for name in lists}


def _with_ids(ours: dict[str, list[Spot]], theirs: dict[str, list[Spot]]) -> dict[str, list[Spot]]:
    """The released answer says less of a place than we keep: the rest is ours."""
    import dataclasses

    kept = ("id", "start_s", "end_s", "is_unknown")
    return {
        level: [
            dataclasses.replace(other, **{name: getattr(one, name) for name in kept})
            for one, other in zip(ours[level], found, strict=True)
        ]
        for level, found in theirs.items()
    }


def test_the_nodes_given_for_edges_are_shuffled_as_released(golden_dir: Path) -> None:
    vectors = _vectors(golden_dir, "edge_prediction_create_input_json")
    assert vectors
    for vector in vectors:
        row, language = vector["input"]
        assert (
            nodes_given(journey_from_json(row["graph"], language=language), "official")
            == vector["official_output"]
        )


def test_frame_times_are_the_released_ones(golden_dir: Path) -> None:
    for vector in _vectors(golden_dir, "compute_frame_timestamps"):
        assert timestamps_s(*vector["input"]) == vector["official_output"]


def test_a_record_scores_its_own_overall_f1(golden_dir: Path) -> None:
    row = _vectors(golden_dir, "node_prediction_process_results")[0]["input"][0]
    journey: Journey = journey_from_json(row["graph"])
    edges = json.dumps({"edges": journey.gold_edges()})
    for subtask, response, value in (("edge", edges, 1.0), ("edge", SAFETY, 0.0), ("node", SAFETY, None)):
        record = {"subtask": subtask, "graph": row["graph"], "response": response}
        assert vir_bench.score_record(record, scoring="official").value == value
