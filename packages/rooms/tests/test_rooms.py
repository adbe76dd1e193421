"""The benchmark of rooms: reading, margins, balance, scoring, and the solver through the tools."""

import asyncio
import gzip
import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.benchmark import SampleSet
from gnomon.core.errors import DataError, SpecError
from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon.core.sample import Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_analyses.audit.audit import audit
from gnomon_conformance import checks
from gnomon_rooms.benchmarks.rooms import rooms
from gnomon_rooms.benchmarks.rooms.scoring import COMPUTED, score_choice, score_number
from gnomon_rooms.drawing import PER_ROOM, RoomQuestion
from gnomon_rooms.reading import Room, find_files, read_rooms
from gnomon_rooms.solver.answering import answer_room_question
from gnomon_rooms.templates import TASKS
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.boxes import Box, Boxes
from tests.made_up_room import BOXES, box, room, written

NAMES = tuple(task.name for task in TASKS)
BOX_TOOLS = [tool for tool in TOOLS if tool.needs is Boxes]


def opened(folder: Path, **select: Any) -> SampleSet:
    chosen = Select.model_validate(select)
    return rooms.open(data=folder, select=chosen, protocol="guarded", media=MediaStore(folder / "media"))


def faults_of(folder: Path) -> list[tuple[str, str]]:
    return [(fault.kind, fault.detail) for fault in read_rooms(find_files(folder))[1]]


def test_doubled_boxes_are_dropped_and_the_others_are_numbered_in_order(made_up: Path) -> None:
    (first, _), faults = read_rooms(find_files(made_up))
    assert [each.name for each in first.boxes] == [
        *(
            "bed",
            "door",
            "lamp",
            "desk",
            "shelf",
            "plant",
            "chair 1",
            "chair 2",
            "chair 3",
            "chair 4",
            "chair 5",
            "printer",
        )
    ]
    assert ("doubled", "1 left out") in [(fault.kind, fault.detail) for fault in faults]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"boxes": [{**BOXES[0], "lengths": [1.0, 0.0, 1.0]}]},
            "boxes.0.lengths.1: Input should be greater than 0",
        ),
        ({"boxes": [{**BOXES[0], "axes": [1.0] * 9}]}, "boxes.0.axes: the axes must be three unit vectors"),
        ({"boxes": [{**BOXES[0], "centroid": [1.0, 2.0]}]}, "boxes.0.centroid: List should have at least 3"),
        ({"boxes": []}, "boxes: List should have at least 1 item"),
        ({"room_size": 0}, "room_size: Input should be greater than 0"),
        ({"room_size": float("nan")}, "room_size: Input should be a finite number"),
        ({"object_counts": {"bed": "one"}}, "object_counts.bed: Input should be a valid integer"),
    ],
)
def test_a_room_that_cannot_be_read_is_left_out_and_named(
    tmp_path: Path, changed: dict[str, Any], says: str
) -> None:
    written(tmp_path, room(), room("broken", **changed))
    found, faults = read_rooms(find_files(tmp_path))
    assert [each.id for each in found] == ["room_a"]
    assert any(
        f.sample_id == "broken" and f.kind == "malformed" and f.detail.startswith(says) for f in faults
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no json", "rooms.json cannot be read"),
        (b"[1]", "rooms.json is no file of rooms (source, up, unit, rooms)"),
        (b'{"source": "a", "up": "y", "unit": "m", "rooms": []}', "up: Input should be 'z'"),
        (b'{"source": "a", "up": "z", "unit": "cm", "rooms": []}', "unit: Input should be 'm'"),
        (
            b'{"source": "a", "up": "z", "unit": "m", "rooms": [7]}',
            "rooms.json holds no room that can be read",
        ),
    ],
)
def test_a_file_of_something_else_is_refused_by_name(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "rooms.json").write_bytes(content)
    with pytest.raises(DataError, match=re.escape(says)) as raised:
        opened(tmp_path)
    assert raised.value.field == "data"


def test_absent_cut_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no rooms; expected files that end in \.json or \.json\.gz"):
        opened(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        opened(tmp_path / "nowhere")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b"{}" * 1000)[:-9])
    with pytest.raises(DataError, match=r"cut\.json\.gz cannot be read"):
        opened(tmp_path)
    with pytest.raises(DataError, match="needs the folder"):
        rooms.open(data=None, select=Select(), protocol="guarded", media=MediaStore(tmp_path / "m"))


def test_only_names_of_both_kinds_can_be_chosen(made_up: Path) -> None:
    with pytest.raises(SpecError, match="allowed is names: unique or numbered"):
        opened(made_up, world={"names": "all"})
    with pytest.raises(SpecError, match="allowed: arkitscenes, scannet, scannetpp, other"):
        opened(made_up, scenes=["attic"])


def test_kinds_in_pieces_or_counted_otherwise_are_not_counted(tmp_path: Path) -> None:
    inside = [*BOXES, box("chair", (2.4, 2.1, 0.45), (0.2, 0.2, 0.2), [1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0])]
    counts = {"bed": 1, "door": 2, "lamp": 1, "desk": 1, "shelf": 1, "plant": 1, "chair": 6, "printer": 1}
    written(tmp_path, room(boxes=inside, object_counts=counts))
    assert {("nested", "chair"), ("counts_differ", "door")} <= set(faults_of(tmp_path))
    texts = [
        opened(tmp_path).get(ref.sample_id).target["question"].draft.text for ref in opened(tmp_path).refs
    ]
    assert not any('kind "chair"' in text for text in texts)
    assert not any(text.startswith("Someone stands at") and '"door"' in text for text in texts)


def test_equal_seeds_ask_the_same_and_other_seeds_ask_otherwise(made_up: Path) -> None:
    first = [ref.sample_id for ref in opened(made_up, seed=1).refs]
    assert first == [ref.sample_id for ref in opened(made_up, seed=1).refs]
    assert first != [ref.sample_id for ref in opened(made_up, seed=2).refs]
    assert len(set(first)) == len(first)


def test_all_types_are_asked_of_a_small_room(made_up: Path) -> None:
    refs = opened(made_up, limit=26).refs
    assert set(Counter(ref.task for ref in refs)) == set(NAMES)
    assert {ref.cluster for ref in refs} == {"room_a", "room_b"}


def prompt(sample: Sample, *show: Any) -> str:
    content = sample.messages(show)[0]["content"]
    assert isinstance(content, list)
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def test_boxes_are_told_where_facts_are_shown_and_the_floor_nowhere(made_up: Path) -> None:
    samples = opened(made_up)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        told, asked = prompt(sample, "facts"), prompt(sample)
        assert "chair 2: centre" in told
        assert "centre 0.00" not in asked
        assert "31.5" not in told
        assert ref.sample_id not in told


# All tests that ask about the scanned rooms ask the same, so that the questions are drawn once.
names_of_both_kinds = pytest.mark.parametrize("names", ["unique", "numbered"])


@pytest.fixture(scope="module")
def some_rooms(rooms_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a third of the scanned rooms."""
    folder = tmp_path_factory.mktemp("rooms")
    for file in find_files(rooms_dir):
        scans = json.loads(gzip.decompress(file.read_bytes()))
        (folder / file.stem).write_text(json.dumps({**scans, "rooms": scans["rooms"][::3]}))
    return folder


def about_scanned(folder: Path, names: str) -> SampleSet:
    return opened(folder, seed=3, world={"names": names}, limit=10**6)


@names_of_both_kinds
def test_answers_and_letters_are_balanced_and_no_truth_is_zero(some_rooms: Path, names: str) -> None:
    samples = about_scanned(some_rooms, names)
    drawn: list[RoomQuestion] = [samples.get(ref.sample_id).target["question"] for ref in samples.refs]
    for task in TASKS:
        asked = [question for question in drawn if question.task == task.name]
        for few in (asked[: len(asked) // 3], asked):
            letters = Counter(question.gold for question in few)
            assert max(letters.values()) - min(letters.values()) <= 1 or not asked[0].options
            answers = Counter(question.draft.group for question in few)
            assert set(answers) == set(task.groups)
            assert max(answers.values()) - min(answers.values()) <= 1
            assert not task.answers or all(q.draft.right == q.draft.group for q in few)
        assert max(Counter(question.draft.room.id for question in asked).values()) <= PER_ROOM
        assert all(question.draft.truth is None or question.draft.truth > 0 for question in asked)
    pairs = Counter((q.task, q.draft.right, q.gold) for q in drawn if q.task == "direction_hard")
    assert max(pairs.values()) - min(pairs.values()) <= 4


def moved(room_: Room, chance: random.Random) -> Room:
    """The room with every centre 10 cm off in a direction of its own."""

    def off(each: Box) -> Box:
        x, y, z = (chance.gauss(0, 1) for _ in range(3))
        length = 10 * (x * x + y * y + z * z) ** 0.5
        centre = each.centre_m
        return replace(
            each, centre_m=(centre[0] + x / length, centre[1] + y / length, centre[2] + z / length)
        )

    return replace(room_, boxes=tuple(map(off, room_.boxes)))


def asked_of(sample: Sample, by_name: dict[str, Box]) -> str:
    """What the solver answers where the tools work on these boxes."""
    toolbox = Toolbox(BOX_TOOLS, ToolContext(inputs=held(Boxes(by_name=by_name))))
    return reply_of(sample.messages(()), toolbox)


def reply_of(messages: list[Message], toolbox: Toolbox) -> str:
    model = ReferenceModel(ModelSpec(id="reference"))
    for _ in range(4):
        reply = asyncio.run(model.reply(Request(messages=messages, tools=toolbox.schemas)))
        if not reply.tool_calls:
            return reply.text
        messages = [
            *messages,
            {"role": "assistant", "content": reply.text, "tool_calls": list(reply.tool_calls)},
        ]
        for call in reply.tool_calls:
            seen = toolbox.call(call["function"]["name"], call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": seen.content})
    raise AssertionError("it never answers")


@names_of_both_kinds
@pytest.mark.parametrize("asked", [130, pytest.param(780, marks=pytest.mark.soak)])
def test_a_shift_of_10_cm_flips_no_answer(some_rooms: Path, names: str, asked: int) -> None:
    samples = about_scanned(some_rooms, names)
    chance, flips, tried = random.Random(5), [], 0
    for ref in samples.refs[:asked]:
        sample = samples.get(ref.sample_id)
        question: RoomQuestion = sample.target["question"]
        if not question.options and question.task != "count_within":
            continue
        for _ in range(2):
            tried += 1
            other = {each.name: each for each in moved(question.draft.room, chance).boxes}
            reply = asked_of(sample, other)
            if rooms.score(sample, reply, scoring="strict").value != 1.0:
                flips.append((ref.sample_id, question.draft.text))
    assert tried > asked
    assert flips == []


@names_of_both_kinds
def test_the_reference_is_right_through_the_tools_and_from_the_boxes_in_words(
    some_rooms: Path, names: str
) -> None:
    samples = about_scanned(some_rooms, names)
    scores: dict[tuple[str, str], list[float]] = {}
    for ref in samples.refs[:130]:
        sample = samples.get(ref.sample_id)
        replies = {
            "fetched": asked_of(sample, dict(sample.inputs[Boxes].by_name)),
            "told": answer_room_question(Request(messages=sample.messages(("facts",)), tools=[])),
        }
        for arm, reply in replies.items():
            score = rooms.score(sample, reply, scoring="strict")
            assert score.value is not None
            scores.setdefault((arm, ref.task), []).append(score.value)
    for (_, task), values in scores.items():
        mean = sum(values) / len(values)
        assert mean < 0.7 if task == "room_size" else mean >= 0.95


# Replies to a choice with truth A, and to a number.
READ = ["A", "A.", "a", "A. left", "A..", "\nA"]
NOT_READ = ["A)", "(A)", "A:", "A,", "**A**", "left", "Answer: A", "A\nbecause", " A", ""]


@pytest.mark.parametrize(("reply", "value"), [*((r, 1.0) for r in READ), *((r, 0.0) for r in NOT_READ)])
def test_official_letters_are_read_as_the_released_code_reads_them(reply: str, value: float) -> None:
    assert score_choice({"A": "left", "B": "right"}, "A", reply, scoring="official").value == value


@pytest.mark.parametrize(
    ("reply", "truth", "value"),
    [
        *((reply, 2.0, 1.0) for reply in ("2", "2.", "2 m", "\n2")),
        *((reply, 2.0, 0.0) for reply in ("2m", "two", "about 2", "**2**", "2\nmetres", "")),
        *(("1,000", 1000.0, 0.0), ("50%", 50.0, 0.0), ("1/2", 0.5, 0.0)),
        *(("1_0", 10.0, 1.0), ("1e1", 10.0, 1.0), ("１０", 10.0, 1.0)),
        *(("1.2", 1.0, 0.7), ("12", 10.0, 0.6), ("150", 100.0, 0.1), ("-3", 2.0, 0.0)),
        *(("nan", 2.0, 0.0), ("inf", 2.0, 0.0), ("1e999", 2.0, 0.0)),
    ],
)
def test_official_numbers_are_scored_as_the_released_code_scores_them(
    reply: str, truth: float, value: float
) -> None:
    assert score_number(truth, "m", reply, scoring="official").value == value


def test_a_computed_number_is_told_from_an_estimate() -> None:
    for reply, unit, truth, computed in (
        *(("Answer: 2.01 m", "m", 2.0, 1.0), ("Answer: 2.1 m", "m", 2.0, 0.0)),
        *(("Answer: 0.52 m", "m", 0.5, 1.0), ("Answer: 101 cm", "m", 1.0, 1.0)),
        *(("Answer: 20.1", "m²", 20.0, 1.0), ("Answer: 3", "", 2.0, 0.0), ("no idea", "m", 2.0, 0.0)),
    ):
        assert score_number(truth, unit, reply, scoring="strict").metrics[COMPUTED] == computed


def test_records_are_scored_by_task() -> None:
    right = {"task": "view", "answer": "B", "response": "B"}
    assert rooms.score_record(right, scoring="official").value == 1.0
    for changed, field in (
        ({"task": "route"}, "task"),
        ({"answer": "E"}, "answer"),
        ({"answer": 0}, "answer"),
    ):
        with pytest.raises(SpecError) as raised:
            rooms.score_record(
                {**right, **({} if field == "task" else {"task": "view"}), **changed}, scoring="official"
            )
        assert raised.value.field == field
    with pytest.raises(SpecError, match="a number above 0"):
        rooms.score_record({"task": "count", "answer": 0, "response": "0"}, scoring="official")


def test_people_are_shown_the_boxes_that_a_question_says_and_the_right_one(made_up: Path) -> None:
    samples = opened(made_up, tasks=["rel_distance"], seed=1)
    sample = samples.get(samples.refs[0].sample_id)
    view = rooms.question_view(sample)
    assert [mark.label for mark in view.seen.marks] == [sample.target["question"].draft.said[0]]
    assert [mark.label for mark in view.truth.marks] == [sample.target["question"].draft.right]
    gold = sample.target["question"].gold
    assert rooms.verdict_in_words(sample, gold, {}) == f"Right: {gold}."
    assert set(rooms.features(sample)) == {"source", "boxes", "boxes that lean more than 5°"}


def test_the_audit_tells_floors(made_up: Path, tmp_path: Path) -> None:
    samples = opened(made_up)
    floors = [rooms.heuristic_scores(samples.get(ref.sample_id)) for ref in samples.refs]
    assert {name for each in floors for name in each} == {
        "usual number",
        "usual for these kinds",
        "first option",
    }
    assert all(0 <= value <= 1 for each in floors for value in each.values())
    assert audit(rooms, data=made_up, select=Select(), media=MediaStore(tmp_path / "m")) is not None


@pytest.mark.parametrize("check", checks(rooms), ids=str)
def test_the_benchmark_keeps_what_every_benchmark_keeps(check: Any) -> None:
    check()


def test_it_keeps_what_it_should_on_files(made_up: Path) -> None:
    for check in checks(rooms, data=made_up):
        check()


def test_own_questions_with_boxes_in_their_scene_can_use_the_tools(tmp_path: Path) -> None:
    from gnomon.benchmarks.questions import questions
    from gnomon_tools.scene.format import scene_to_json
    from gnomon_tools.scene.frame import Frame
    from gnomon_tools.scene.scene import Scene

    bed = Box(name="bed", kind="bed", centre_m=(0.0, 0.0, 0.0), lengths_m=(2.0, 1.0, 0.5))
    rows = []
    for name, boxes in (("with", {"bed": bed}), ("without", {})):
        scene = Scene(id=name, frame=Frame(anchored=False), kind="indoor", boxes=boxes)
        (tmp_path / f"{name}.geojson").write_text(json.dumps(scene_to_json(scene)))
        rows.append({"id": name, "question": "How long?", "answer": "2", "scene": f"{name}.geojson"})
    for file, served in ((rows, True), (rows[1:], False)):
        path = tmp_path / "questions.jsonl"
        path.write_text("\n".join(map(json.dumps, file)))
        assert (Boxes in questions.serving(path).provides) is served  # type: ignore[attr-defined]
    path.write_text("\n".join(map(json.dumps, rows)))
    samples = questions.open(data=path, select=Select(), protocol="guarded", media=MediaStore(tmp_path / "m"))
    assert samples.get("with").inputs[Boxes].by_name["bed"].lengths_m == (2.0, 1.0, 0.5)
    assert samples.get("without").find(Boxes) is None
