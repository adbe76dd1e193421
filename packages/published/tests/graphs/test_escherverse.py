"""EscherVerse from its published file: samples, prompts, scores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.escherverse import escherverse
from gnomon_published.benchmarks.escherverse.item import (
    LETTERS,
    QUESTION_TYPES,
    item_from_json,
    split_question,
)
from gnomon_published.benchmarks.escherverse.prompt import as_shown
from tests.numbered import number_of
from tests.published_graphs import ESCHER_ROWS, publish_escher

SINGLE, MULTIPLE, TRUE_FALSE, FILL_IN = QUESTION_TYPES


@pytest.fixture
def media(tmp_path: Path) -> MediaStore:
    return MediaStore(tmp_path / "media")


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_escher(tmp_path_factory.mktemp("escher"))


def opened(folder: Path, media: MediaStore, protocol: str = "guarded", **select: Any) -> Any:
    return escherverse.open(data=folder, select=Select(**select), protocol=protocol, media=media)  # type: ignore[arg-type]


def shown(sample: Sample, media: MediaStore) -> list[int]:
    blocks = sample.messages()[0]["content"]
    assert isinstance(blocks, list)
    return [number_of(media.read(block["sha256"])) for block in blocks if block["type"] == "image"]


def texts(sample: Sample) -> list[str]:
    return [part.content for part in sample.parts if isinstance(part.content, str)]


def score(question_type: str, answer: str, response: str | None, scoring: str = "strict", **more: Any) -> Any:
    variant = more.pop("variant", None)
    record = {"question_type": question_type, "answer": answer, "response": response, **more}
    return escherverse.score_record(record, scoring=scoring, variant=variant)  # type: ignore[arg-type]


def test_questions_carry_their_published_index_and_cluster_by_video(
    published: Path, media: MediaStore
) -> None:
    samples = opened(published, media)
    assert {(ref.sample_id, ref.cell, ref.cluster) for ref in samples.refs} == {
        ("11", "dynamic_spatial", "abc_d"),
        ("12", "action_intent", "abc_d"),
        ("13", "object_permanence", "xyz"),
        ("14", "ego_allo", "xyz"),
    }
    assert [ref.sample_id for ref in opened(published, media, tasks=("ego_allo",)).refs] == ["14"]
    humans = opened(published, media, scenes=("human_centric",)).refs
    assert {ref.sample_id for ref in humans} == {"12", "14"}
    assert not samples.faults


def test_the_official_prompt_has_the_question_verbatim_and_then_sixteen_even_frames(
    published: Path, media: MediaStore
) -> None:
    samples = opened(published, media, "official")
    for row in ESCHER_ROWS:
        sample = samples.get(str(row["index"]))
        assert row["Q"] in texts(sample)[0]
        frames = 61 if row["P"].startswith("abc") else 9
        count = min(frames, 16)
        assert shown(sample, media) == np.linspace(0, frames - 1, count, dtype=int).tolist()
        blocks = sample.messages()[0]["content"]
        assert [block["type"] for block in blocks] == ["text"] + ["image"] * count  # type: ignore[index]


def test_the_guarded_prompt_times_its_frames_and_names_no_file(published: Path, media: MediaStore) -> None:
    sample = opened(published, media).get("11")
    assert shown(sample, media) == [int((step + 0.5) * 61 / 16 + 1e-9) for step in range(16)]
    told = "\n".join(texts(sample))
    assert "abc_d" not in told
    assert "[Single-Choice]" not in told
    assert {"left of the plate", "right of the plate", "behind it", "under the table"} == {
        line.partition(") ")[2] for line in told.splitlines() if line[1:2] == ")"
    }


def test_the_guarded_order_of_options_is_not_the_published_one_and_gold_follows_its_text() -> None:
    letters = []
    for number in range(200):
        options = [f"thing {number} {k}" for k in "wxyz"]
        listed = " ".join(f"{letter}) {text}" for letter, text in zip("ABCD", options, strict=True))
        row = {**ESCHER_ROWS[0], "Q": f"[Single-Choice] Which {number}? [Options] {listed}", "A": "A"}
        told = as_shown(item_from_json(row), "guarded")
        assert told.options[LETTERS.index(told.answer)] == options[0]
        letters.append(told.answer)
    assert all(30 <= letters.count(letter) <= 75 for letter in "ABCD")


def test_an_option_that_speaks_of_the_others_keeps_its_place() -> None:
    for listed in ("A) the cup B) the plate C) all of the above", "A) a B) b C) c D) d E) e"):
        item = item_from_json({**ESCHER_ROWS[0], "Q": f"[Single-Choice] Which? [Options] {listed}", "A": "C"})
        assert item.options
        assert as_shown(item, "guarded") == item


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("[Single-Choice] Q? [Options] A) one B) two", ("one", "two")),
        ("Q? [Options]\nA) one\nB) two (or B)\nC) three", ("one", "two (or B)", "three")),
        ("Q? [Options] A. one B. two", ("one", "two")),
        ("Q? [Options] B) one A) two", ()),
        ("Is A) or B) meant?", ()),
    ],
)
def test_options_are_read_from_one_line_or_several(question: str, options: tuple[str, ...]) -> None:
    assert split_question(question)[1] == options


def test_what_is_wrong_with_rows_is_named_and_the_others_asked(tmp_path: Path, media: MediaStore) -> None:
    base = ESCHER_ROWS[0]
    rows: list[Any] = [
        base,
        {**base, "A": None},
        {**base, "index": 21, "P": ""},
        "no object",
        {**base, "index": 22, "C": "Category 9: X", "scene_type": "?", "question_type": "Ordering"},
        {**base, "index": 23, "Q": "[Single-Choice] Where?"},
        {**base, "index": 24, "A": "left"},
        base,
        {key: value for key, value in base.items() if key not in {"index", "question_type"}},
    ]
    samples = opened(publish_escher(tmp_path / "escher", rows, clips=False), media)
    kinds = [(fault.sample_id, fault.kind) for fault in samples.faults]
    assert kinds.count(("22", "label")) == 3
    assert {("Escher-Bench.json[1]", "malformed"), ("Escher-Bench.json[2]", "malformed")} <= set(kinds)
    assert {
        ("Escher-Bench.json[3]", "malformed"),
        ("23", "options"),
        ("24", "gold"),
        ("11", "duplicate"),
    } <= set(kinds)
    assert ("", "media") in kinds
    assert {ref.sample_id for ref in samples.refs} == {"11", "22", "23", "24", "8"}
    for ref in samples.refs:
        assert "is absent" in samples.get(ref.sample_id).broken


def test_a_clip_outside_the_folder_is_absent(tmp_path: Path, media: MediaStore) -> None:
    (tmp_path / "secret.mp4").write_bytes(b"x")
    for name in ("../../secret.mp4", "nul\0.mp4", "x" * 5_000):
        samples = opened(
            publish_escher(tmp_path / "escher", [{**ESCHER_ROWS[0], "P": name}], clips=False), media
        )
        assert "is absent" in samples.get("11").broken


def test_a_file_that_is_no_list_is_refused(tmp_path: Path, media: MediaStore) -> None:
    (tmp_path / "Escher-Bench.json").write_text("{}")
    with pytest.raises(DataError, match="no list"):
        opened(tmp_path, media)


@pytest.mark.parametrize(
    ("question_type", "gold", "response", "flag"),
    [
        (TRUE_FALSE, "False", "<answer>True and False</answer>", "gamed:true_and_false"),
        (FILL_IN, "left side", "<answer>e</answer>", "gamed:fragment_of_gold"),
        (FILL_IN, "left side", "<answer></answer>", "gamed:empty_answer"),
        (FILL_IN, "left", f"<answer>left {'or right ' * 8}</answer>", "gamed:long_text_holds_gold"),
    ],
)
def test_a_response_that_games_an_official_rule_scores_by_it_is_flagged_and_fails_strict(
    question_type: str, gold: str, response: str, flag: str
) -> None:
    official = score(question_type, gold, response, "official")
    assert official.value == 1.0
    assert flag in official.flags
    assert score(question_type, gold, response).value == 0.0


def test_the_two_evaluators_differ_where_they_should() -> None:
    said = "The answer is B"
    assert [score(SINGLE, "B", said, "official", variant=v).value for v in ("v1", "v2")] == [0.0, 1.0]
    with pytest.raises(SpecError, match="v1, v2"):
        score(SINGLE, "B", said, "official", variant="v3")


@pytest.mark.parametrize(
    ("question_type", "gold", "response", "value"),
    [
        (SINGLE, "B", "<answer>**b)** right</answer>", 1.0),
        (SINGLE, "B", "<answer>right</answer>", 1.0),
        (SINGLE, "B", "<think><answer>A</answer></think>It is there.\nAnswer: (B)", 1.0),
        (SINGLE, "B", "<answer>A or B</answer>", 0.0),
        (SINGLE, "B", "because of the answer", 0.0),
        (SINGLE, "B", "<answer>A) right</answer>", 0.0),
        (MULTIPLE, "A, C", "<answer>C and A</answer>", 1.0),
        (MULTIPLE, "A, C", "<answer>A</answer>", 0.0),
        (MULTIPLE, "A, C", "<answer>up; left</answer>", 1.0),
        (TRUE_FALSE, "True", "<answer>true.</answer>", 1.0),
        (TRUE_FALSE, "False", "<answer>No</answer>", 1.0),
        (TRUE_FALSE, "True", "<answer>not true</answer>", 0.0),
        (TRUE_FALSE, "True", "<answer>untrue</answer>", 0.0),
        (FILL_IN, "left side", "<answer>The left side.</answer>", 1.0),
        (FILL_IN, "left side", "<answer>on the left side of her</answer>", 1.0),
        (FILL_IN, "left side", "<answer>not the left side</answer>", 0.0),
        (FILL_IN, "upward and forward", "<answer>forward and upward</answer>", 0.5),
        ("Ordering", "1, 2", "<answer>1, 2</answer>", 1.0),
    ],
)
def test_strict_understands_usual_spellings(
    question_type: str, gold: str, response: str, value: float
) -> None:
    question = "[X] Where? [Options] A) left B) right C) up D) down"
    assert score(question_type, gold, response, question=question).value == value


def test_no_response_scores_zero_and_is_no_answer() -> None:
    for scoring in ("official", "strict"):
        for response in (None, ""):
            found = score(FILL_IN, "left", response, scoring)
            assert (found.value, found.answer) == (0.0, None)


@given(
    st.text(alphabet="ABCDabcd <>/answertruefl,.)(\n") | st.text(),
    st.sampled_from((*QUESTION_TYPES, "Ordering")),
    st.text(max_size=9),
)
def test_whatever_a_model_writes_gets_a_score(response: str, question_type: str, gold: str) -> None:
    question = "[X] Where? [Options] A) left B) right"
    for scoring, variant in (("official", "v1"), ("official", "v2"), ("strict", None)):
        for text in (response, f"<answer>{response}</answer>"):
            value = score(question_type, gold, text, scoring, variant=variant, question=question).value
            assert value in {0.0, 0.5, 1.0}


def test_bad_records_are_refused_by_field() -> None:
    good = {"question_type": SINGLE, "answer": "B", "response": "B"}
    for field in good:
        record: dict[str, Any] = {**good, field: 3}
        with pytest.raises(SpecError) as caught:
            escherverse.score_record(record, scoring="official")
        assert caught.value.field == field


def test_the_published_rows_end_with_people() -> None:
    rows = escherverse.published()
    assert len(rows) == 28
    assert (rows[-1].group, rows[-1].aggregate) == ("human", 0.9062)
