"""Near-equal questions are found and become one cluster; questions from one template are not."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.clusters import cluster_names, cluster_text
from gnomon.core.near_equal import Asked, NearEqual, find_near_equal
from gnomon.core.sample import SampleRef

DRIVE = "A car drives 50 km/h for 30 minutes. How far does it get?"
OPTIONS = ("25 km", "50 km", "15 km")


def asked(sample_id: str, text: str = DRIVE, **rest: object) -> Asked:
    values: dict[str, object] = {"options": OPTIONS, "answers": ("25 km",), **rest}
    return Asked(sample_id=sample_id, text=text, **values)  # type: ignore[arg-type]


def ref(sample_id: str, cluster: str = "") -> SampleRef:
    return SampleRef(sample_id=sample_id, task="t", cell="t", cluster=cluster)


@pytest.mark.parametrize(
    "again",
    [
        DRIVE,
        f"  {DRIVE.upper()}\n",
        "A car drives 50 km/h for 30 minutes – how far does it get",
        f"Question 12: {DRIVE} Please answer.",
        f"{DRIVE} Choose the correct option.",
        DRIVE.replace("minutes", "mintues"),
        DRIVE.replace("drives", "drivess"),
        DRIVE.replace("A car", "\uff21 car"),
    ],
)
def test_the_same_question_in_another_dress_is_near_equal(again: str) -> None:
    turned = asked("2", again, options=OPTIONS[::-1])
    assert find_near_equal([asked("1"), turned]).groups == (("1", "2"),)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (DRIVE, DRIVE.replace("50", "60").replace("30", "45")),
        (DRIVE, DRIVE.replace("50", "5.0")),
        (DRIVE, DRIVE.replace("car", "cat")),  # short words are too alike
        ("How far is Bergen from Oslo?", "How far is Berlen from Oslo?"),  # names are no slips
        ("Is the tree left of the car?", "Is the car left of the tree?"),
        ("Is it warmer than -5 °C?", "Is it warmer than 5 °C?"),
        ("Is x < 5?", "Is x > 5?"),
        ("Does y = -x rise?", "Does y = x rise?"),
        ("How much is 5²?", "How much is 52?"),
        ("How much is 10 - 5?", "How much is 10 5?"),
        ("You drive north. Turn to the right.", "You drive north."),
        ("Where is camera A?", "Where is camera B?"),
        ("駅はどこ?", "駅はいつ?"),
    ],
)
def test_what_matters_tells_questions_of_one_template_apart(one: str, other: str) -> None:
    assert find_near_equal([asked("1", one), asked("2", other)]).groups == ()


def test_other_options_and_other_media_make_other_questions(tmp_path: Path) -> None:
    for name, data in {"a": b"one", "copy": b"one", "b": b"two", "long": b"longer"}.items():
        (tmp_path / name).write_bytes(data)
    shown = [asked(name, media=(tmp_path / name, "clip 3")) for name in ("a", "copy", "b", "long")]
    more = [asked("other clip", media=(tmp_path / "a", "clip 4")), asked("none"), asked("fewer", options=())]
    absent = [asked(name, media=(tmp_path / f"absent {name}",)) for name in ("x", "y")]
    assert find_near_equal([*shown, *more, *absent]).groups == (("a", "copy"),)


def test_a_word_of_other_questions_is_no_slip() -> None:
    texts = ["Is the bridge wide?", "Is the bridle wide?", "Which bridle is long?", "Which bridge is low?"]
    assert find_near_equal(asked(text, text) for text in texts).groups == ()
    assert len(find_near_equal(asked(text, text) for text in texts[:2]).groups) == 1
    answers = ("25 km", "50 km")
    other = [asked(text, text, answers=(right,)) for text, right in zip(texts, answers, strict=False)]
    assert find_near_equal(other).groups == ()


def test_two_wordings_of_many_pictures_are_joined_by_picture_in_time() -> None:
    texts = ("Which colour has it?", "Which color has it?")
    questions = [
        asked(f"{text[8:14]} {at}", text, media=(f"{at}",), answers=("25 km",))
        for text in texts
        for at in range(4_000)
    ]
    assert {len(group) for group in find_near_equal(questions).groups} == {2}


def test_twenty_thousand_questions_of_one_template_stay_apart() -> None:
    draw = random.Random(3)
    places = [
        f"{a}{b}" for a in ("Nor", "Sol", "Ber", "Lin", "Kar") for b in ("vik", "by", "gen", "dal", "und")
    ]
    texts = {
        f"From {draw.choice(places)} drive {draw.randint(1, 900)} km {draw.choice(('north', 'south'))}, then"
        f" {draw.randint(1, 900)} km to {draw.choice(places)}. How far is camera {draw.randint(1, 99)}?"
        for _ in range(20_000)
    }
    assert find_near_equal(asked(text, text) for text in texts).groups == ()


def test_other_answers_to_the_same_are_named_where_they_can_be_compared() -> None:
    found = find_near_equal(
        [asked("b", answers=("50 KM.",)), asked("a"), asked("c", form="number"), asked("d")]
    )
    assert found.groups == (("a", "b", "c", "d"),)
    assert found.contradictions == (("a", "b"),)
    faults = [fault.detail for fault in found.faults()]
    counted = "4 of 4 questions are near-equal to another (1 group): each group counts as one cluster"
    assert faults[0] == f"{counted}: a = b = c = d"
    assert faults[1] == "questions that ask the same have different answers: 'a' and 'b'"
    either = [asked("a", answers=("25 km", "25")), asked("b", answers=("25",))]
    assert find_near_equal(either).contradictions == ()


def test_groups_join_the_clusters_they_reach_into_by_each_factor() -> None:
    found = NearEqual(looked_at=6, groups=(("1", "2"), ("3", "4")))
    one_way = found.joined([ref("1", "x"), ref("2", "w"), ref("3"), ref("4"), ref("5", "x"), ref("6")])
    assert [each.cluster for each in one_way] == ["w", "w", "near-equal to 3", "near-equal to 3", "w", ""]
    names = {"1": ("x", "t"), "2": ("y", "t"), "3": ("x", "u"), "5": ("y", "v")}
    two_way = found.joined([ref(name, cluster_text(each)) for name, each in names.items()])
    assert [cluster_names(each.cluster) for each in two_way] == [
        ("x", "t"),
        ("x", "t"),
        ("x", "u"),
        ("x", "v"),
    ]
    refs = [ref("1", "x"), ref("7", "y")]  # the other of the group was not selected
    assert found.joined(refs) is refs


TEXTS = st.lists(
    st.sampled_from(["near", "bridge", "brigde", "tower", "-5", "5", "left", "Oslo"]), max_size=4
)


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["25 km", "50 km"])), max_size=7), st.randoms())
def test_groups_do_not_depend_on_the_order_of_questions(
    rows: list[tuple[list[str], str]], draw: random.Random
) -> None:
    questions = [asked(str(at), " ".join(words), answers=(right,)) for at, (words, right) in enumerate(rows)]
    found = find_near_equal(questions)
    draw.shuffle(questions)
    assert find_near_equal(questions) == found
    ids = [one for group in found.groups for one in group]
    assert len(ids) == len(set(ids))
    assert all(len(group) > 1 for group in found.groups)


@given(st.text(max_size=40))
def test_a_question_is_near_equal_to_itself_and_to_itself_in_other_spaces(text: str) -> None:
    pair = [asked("1", text), asked("2", f"  {text}\n")]
    assert find_near_equal(pair).groups == (("1", "2"),)


@given(st.lists(st.text(min_size=1), max_size=3))
def test_clusters_are_read_as_they_were_written(names: list[str]) -> None:
    assert cluster_names(cluster_text(names)) == tuple(names)


@pytest.mark.parametrize("name", ["[a]", '["a"', '["a", "b"]', "scene 3", '["a"]', "[]"])
def test_a_name_that_is_no_list_of_ours_is_one_name(name: str) -> None:
    assert cluster_names(name) == (name,)
    assert cluster_text([name]) == name
