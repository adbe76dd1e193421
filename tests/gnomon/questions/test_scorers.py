"""Each scorer: what it accepts as right, reads of replies, and refuses in a file."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.benchmarks.questions.scorers.option import choice, labels_in, options_in, right_letter
from gnomon.benchmarks.questions.scorers.scorers import SCORERS, make_scorer
from gnomon.core.errors import SpecError

METRES = {"number": {"tolerance": 0.05, "relative": True, "unit": "m"}}
EARTH, PLANE = {"point": {"within_m": 100}}, {"point": {"within_m": 2, "on": "plane"}}

# The scorer, the file's answer, a response, the score.
CASES: list[tuple[Any, Any, str, float]] = [
    ("number", 12, "12", 1),
    ("number", "12", "It is 11.\nAnswer: **12**", 1),
    ("number", 12, "Answer: 12.001", 0),
    ("number", 1234.5, "Answer: 1,234.5", 1),
    ("number", 3.5, "Answer: 3,5", 1),
    ("number", -4, "Answer: −4", 1),
    ("number", 0, "Answer: 0", 1),
    ("number", 12, "between 11 and 12", 0),
    ("number", 12, "<think>Answer: 12</think>I do not know.", 0),
    (METRES, 1000, "Answer: 1.04 km", 1),
    (METRES, 1000, "Answer: 1.06 km", 0),
    (METRES, "1 km", "Answer: about 1000", 1),
    (METRES, 1000, "Answer: 1000 seconds", 0),
    (METRES, 1609.344, "Answer: 1 mile", 1),
    ({"number": {"unit": "min"}}, 80, "Answer: 1 h 20 min", 1),
    ({"number": {"unit": "%"}}, 25, "Answer: 25 %", 1),
    ({"number": {"unit": "°C"}}, 20, "Answer: 68 °F", 1),
    ({"number": {"unit": "km/h"}}, 36, "Answer: 10 m/s", 1),
    ("text", "Market Square", "Answer: the market square", 0),
    ("text", "Market Square", "market  square.", 1),
    ("text", ["Oslo", "Kristiania"], '{"answer": "kristiania"}', 1),
    ("text", '["Oslo", "Kristiania"]', "Answer: Oslo", 1),
    ({"text": {"match": "exact"}}, "Oslo", "Answer: oslo", 0),
    ("text", True, "Answer: Yes", 1),
    ("list", ["a", "b", "b"], 'Answer: ["b", "a", "b"]', 1),
    ("list", ["a", "b", "b"], "Answer: a, b", 0),
    ("set", ["a", "b"], "Answer: b, a, b", 1),
    ("set", ["a", "b"], 'Answer: ["a", "c"]', 0.5),
    ("set", ["a", "b"], "Answer: []", 0),
    ("ordered_list", "a; b; c", "Answer: a → b → c", 1),
    ("ordered_list", ["a", "b", "c"], "Answer: b, a, c", 2 / 3),
    ("interval", [10, 20], "Answer: 15-25", 1 / 3),
    ("interval", [10, 20], "Answer: 30-40", 0),
    ("interval", "00:01:00-00:01:30", "Answer: 1:00 to 1:30", 1),
    ({"interval": {"threshold": 0.3}}, {"start": 10, "end": 20}, "Answer: [15, 25]", 1),
    ("interval", [60, 180], "Answer: 1 to 3 min", 1),
    ("interval", [10, 20], "Answer: 20-10", 0),
    (EARTH, "60.1699, 24.9384", "Answer: 60.1700, 24.9385", 1),
    (EARTH, {"type": "Point", "coordinates": [24.9384, 60.1699]}, "Answer: 60.1699° N, 24.9384° E", 1),
    (EARTH, [60.1699, 24.9384], "Answer: 24.9384, 60.1699", 0),
    (EARTH, [-33.8, 151.2], 'It is {"type": "Point", "coordinates": [151.2, -33.8]}', 1),
    (PLANE, [3, 4], "Answer: 3.5, 4.5", 1),
    (PLANE, {"x_m": 3, "y_m": 4}, "Answer: 6, 8", 0),
]


@pytest.mark.parametrize(("scorer", "answer", "response", "value"), CASES)
def test_a_response_scores(scorer: Any, answer: Any, response: str, value: float) -> None:
    made = make_scorer(scorer)
    score = made.score(made.truth(answer), response)
    assert score.value == pytest.approx(value)
    assert score.answer is not None or score.flags


@pytest.mark.parametrize(("scorer", "answer"), {str(case[:2]): case[:2] for case in CASES}.values())
def test_the_truth_in_its_own_words_is_right(scorer: Any, answer: Any) -> None:
    made = make_scorer(scorer)
    truth = made.truth(answer)
    assert made.score(truth, f"Answer: {made.reply(truth)}").value == 1
    assert made.form(truth)
    assert truth.text


@pytest.mark.parametrize(
    ("scorer", "answer"),
    [
        ("number", "far"),
        ("number", "3 to 5"),
        ("number", True),
        (METRES, "5 kg"),
        ("text", []),
        ("text", {"a": 1}),
        ("set", [1, {}]),
        ("interval", [5, 3]),
        ("interval", "noon"),
        (EARTH, "91, 0"),
        (EARTH, "north"),
        (PLANE, [1, 2, 3]),
        ("option", "A"),
    ],
)
def test_an_answer_of_another_kind_is_refused_by_its_field(scorer: Any, answer: Any) -> None:
    with pytest.raises(SpecError) as refused:
        make_scorer(scorer).truth(answer)
    assert refused.value.field == "answer"


@pytest.mark.parametrize(
    ("written", "field", "words"),
    [
        ("numbr", "scorer", "no 'numbr'; allowed: option, number, text, list, set"),
        ({"number": {"tolerance": -1}}, "scorer.number.tolerance", "greater than or equal to 0"),
        ({"number": {"unit": "smoot"}}, "scorer.number.unit", "no 'smoot'; allowed: m, metre"),
        ({"number": {"toleranse": 1}}, "scorer.number.toleranse", "Allowed here: tolerance, relative, unit"),
        ({"point": {}}, "scorer.point.within_m", "required"),
        ({"text": {}, "set": {}}, "scorer", "one of them with parameters"),
        (["number"], "scorer", "one of them with parameters"),
        ({"number": 5}, "scorer.number", "parameters are a mapping"),
    ],
)
def test_a_scorer_that_is_not_there_is_refused_with_what_is(written: Any, field: str, words: str) -> None:
    with pytest.raises(SpecError) as refused:
        make_scorer(written)
    assert refused.value.field == field
    assert words in refused.value.message


ANSWERS: dict[str, tuple[Any, Any]] = {
    "number": (METRES, 5),
    "text": ("text", "a"),
    "list": ("list", ["a"]),
    "set": ("set", ["a"]),
    "ordered_list": ("ordered_list", ["a", "b"]),
    "interval": ("interval", [1, 2]),
    "point": (EARTH, [1, 2]),
    "angle": ("angle", 90),
    "date": ("date", "2026-06-09"),
    "time": ("time", "14:30"),
    "mra": ("mra", 5),
}


def test_whatever_a_model_writes_gets_a_score_from_every_scorer() -> None:
    truths = [choice({"A": "left", "B": "right"}, "B")]
    scorers = [make_scorer("option")]
    for name in SCORERS:
        if name not in ("option", "judge"):  # a judge is asked, and scores nothing by itself
            written, answer = ANSWERS[name]
            scorers.append(make_scorer(written))
            truths.append(scorers[-1].truth(answer))
    words = st.text() | st.recursive(st.floats() | st.text(), lambda x: st.lists(x)).map(
        lambda value: f"Answer: {json.dumps(value)}"
    )

    @given(words | st.text("0123456789.,:;-+eE°NSEWkm {}[]\"'/%\n"))
    def holds(response: str) -> None:
        for scorer, truth in zip(scorers, truths, strict=True):
            score = scorer.score(truth, response)
            assert score.value is not None
            assert 0 <= score.value <= 1
            assert all(value == value for value in score.metrics.values())
            assert scorer.verdict(truth, score.answer or "", score.metrics)
            scorer.sketch(truth, response)

    holds()


@pytest.mark.parametrize(
    ("row", "field", "words"),
    [
        ({"options": ["a"]}, "options", "has one entry"),
        ({"options": "a, b"}, "options", "is no list"),
        ({"options": ["a", "a"]}, "options", "options A and B are the same text"),
        ({"A": "a", "C": "c"}, "options", "option B is empty"),
        ({"options": [str(number) for number in range(27)]}, "options", "has 27 entries; allowed: 26"),
        ({"options": {"A": "a", "X": "b"}}, "options", "has the keys A, X"),
        (
            {"options": ["A. left", "right"]},
            "options",
            "carry the letters A, none; allowed: all carry theirs",
        ),
        ({"options": ["B. left", "A. right"]}, "options", "carry the letters B, A; allowed"),
        ({"options": ["A. left", "B. up", "D. right"]}, "options", "carry the letters A, B, D; allowed"),
        ({"options": ["A. left", "B. left"]}, "options", "options A and B are the same text 'left'"),
        ({"A": "a) left", "B": "right"}, "options", "carry the letters A, none"),
        ({"options": {"text": ["x", "y"], "label": ["A"]}}, "options", "has not as many labels as texts"),
    ],
)
def test_options_that_cannot_be_asked_are_refused(row: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(SpecError) as refused:
        options_in(row)
    assert refused.value.field == field
    assert words in refused.value.message


@pytest.mark.parametrize(
    "written",
    ['["left", "to the right"]', "['left', 'to the right']", "left|to the right", "left; to the right"],
)
def test_a_list_of_options_may_be_written_in_the_usual_ways(written: str) -> None:
    assert options_in({"options": written}) == {"A": "left", "B": "to the right"}


@pytest.mark.parametrize(
    "form",
    ["{}. {}", "{}) {}", "({}) {}", "[{}] {}", "{}: {}", "{} - {}", "{}、{}", "（{}）{}", "Option {}: {}"],
)
@pytest.mark.parametrize("letters", ["ABCD", "abcd"])
def test_letters_that_options_carry_are_taken_off(form: str, letters: str) -> None:
    texts = ["back-left", "front-right", "None of the above", "5 m"]
    options = [form.format(letter, text) for letter, text in zip(letters, texts, strict=True)]
    plain = dict(zip("ABCD", texts, strict=True))
    assert options_in({"options": options}) == plain
    assert options_in(dict(zip("ABCD", options, strict=True))) == plain
    for answer in ("B", "b", "(B)", "B.", "B)", options[1], "front-right", "Front-Right."):
        assert right_letter(answer, plain) == "B"
    with pytest.raises(SpecError, match="not among the options"):
        right_letter("B. back-left", plain)


@pytest.mark.parametrize(
    "options",
    [
        ["W. Heisenberg", "N. Bohr"],
        ["A.M.", "P.M."],
        ["A.D. 70", "B.C. 70"],
        ["A", "B", "C"],
        ["a dog", "a cat"],
        ["A-frame", "B-road"],
        ["3.5", "4.5"],
        ["None of the above", "Both A and B"],
    ],
)
def test_texts_that_only_begin_like_letters_stay_as_they_are(options: list[str]) -> None:
    assert list(options_in({"options": options}).values()) == options


@pytest.mark.parametrize(
    ("options", "answer", "says"),
    [
        (["1", "2", "3"], 1, "A as the text '1', B as an index from 0, A as an index from 1"),
        (["0", "1", "2"], "1", "B as the text '1', B as an index from 0, A as an index from 1"),
        (["left", "up", "right"], 2, "C as an index from 0, B as an index from 1"),
        (["left", "up", "right"], "2.0", "C as an index from 0, B as an index from 1"),
        (["left", "right"], 0, "A as an index from 0"),
        (["3", "5", "7"], 3, "A as the text '3', C as an index from 1"),
    ],
)
def test_a_number_that_could_be_an_index_is_refused_with_its_readings(
    options: list[str], answer: object, says: str
) -> None:
    with pytest.raises(SpecError) as refused:
        right_letter(answer, options_in({"options": options}))
    assert refused.value.field == "answer"
    assert f"could be {says}; write the right one's letter instead: A, B" in refused.value.message


@pytest.mark.parametrize(("options", "answer", "letter"), [(["10", "20"], 20, "B"), (["9", "2"], "2", "B")])
def test_a_number_is_a_text_where_no_index_says_otherwise(
    options: list[str], answer: object, letter: str
) -> None:
    assert right_letter(answer, options_in({"options": options})) == letter


@pytest.mark.parametrize("labels", [["A", "B", "C"], ["1", "2", "3"]])
def test_options_may_stand_beside_their_labels(labels: list[str]) -> None:
    texts = ["left", "up", "right"]
    pairs = [{"label": label, "text": text} for label, text in zip(labels, texts, strict=True)]
    for options in ({"text": texts, "label": labels}, pairs):
        row = {"options": options}
        assert options_in(row) == dict(zip("ABC", texts, strict=True))
        for answer in (labels[1], "B", "up"):
            assert right_letter(answer, options_in(row), labels_in(row)) == "B"
    with pytest.raises(SpecError, match="has the labels A, C; allowed: A, B, C, … or 1, 2, 3"):
        labels_in({"options": {"text": ["x", "y"], "label": ["A", "C"]}})


def test_a_right_option_is_a_letter_or_a_text_but_not_two_of_them() -> None:
    assert right_letter(4, {"A": "3", "B": "4"}) == "B"
    assert right_letter("a", {"A": "x", "B": "y"}) == "A"
    with pytest.raises(SpecError, match="any of the options A, B"):
        right_letter("B", {"A": "b", "B": "a"})
    with pytest.raises(SpecError, match="not among the options; allowed: A, B"):
        right_letter("C", {"A": "x", "B": "y"})
