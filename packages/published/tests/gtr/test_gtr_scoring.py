"""Scoring GTR-Bench: strict rules are sane and total, official ones are flagged where they are gamed."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.benchmark import PromptProtocol, Scoring
from gnomon.core.clock import clock_span, day_span, span_iou
from gnomon.core.errors import SpecError
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_published.benchmarks.gtr_bench.case import Case, case_from_json
from gnomon_published.benchmarks.gtr_bench.official import extract_elements, seconds_of
from gnomon_published.benchmarks.gtr_bench.scoring import score_case

Entry = dict[str, Any]

NEXT = Case(
    scene="outdoor",
    task_id="NextSpotForecasting",
    choices=("A. c095", "B. c09", "C. c012"),
    correct_cam_name=("B. c09",),
    correct_time_str=("12:00:10.000-12:00:20.000",),
)
PAIR = Case(
    scene="indoor",
    task_id="TrajectoryForecasting",
    choices=("A. c01", "B. c02", "C. c03", "D. c04", "E. c05"),
    correct_cam_name=("E. c05", "A. c01"),
    correct_time_str=("12:00:20.000-12:00:30.000", "12:00:40.000-12:00:50.000"),
)
ORDER = Case(
    scene="indoor",
    task_id="CausalReordering",
    choices=("A. c01 → c02 → c03", "B. c03 → c01 → c02", "C. c01 → c02 → c03"),
    ground_truth="B. c03 → c01 → c02",
)
TIME = '"time_duration": ["12:00:10.000-12:00:20.000"]'


def _strict(case: Case, response: str | None) -> tuple[float | None, str | None]:
    score = score_case(case, response, scoring="strict")
    return score.value, score.answer


@pytest.mark.parametrize(
    "answer", ["B", "b", "B.", "(B)", "B)", "c09", "C09", " B. c09 ", "b) c09", ["B"], ["c09"]]
)
def test_strict_understands_the_usual_spellings(answer: object) -> None:
    response = json.dumps({"answer": answer, "time_duration": ["12:00:10-12:00:20"]})
    assert _strict(NEXT, response) == (1.0, "B")


@pytest.mark.parametrize(
    "answer", [["A", "B", "C"], [], "D", "c0", "c9", "A. c09", "A or B", "", 2, None, True]
)
def test_strict_takes_exactly_one_option_or_none(answer: object) -> None:
    score = score_case(NEXT, json.dumps({"answer": answer}), scoring="strict")
    assert (score.value, score.answer, score.flags[0]) == (0.0, None, "no_answer")


@pytest.mark.parametrize(
    "response",
    [
        '```json\n{"answer": "B", TIME}\n```',
        '<think>{"answer": "A"}</think>{"answer": "B", TIME}',
        'perhaps {"answer": "A"} but no: {"answer": "B", TIME} {braces}',
        'so {"answer": "B", "other": {"answer": "A"}, TIME}',
        'stray thoughts</think> {"answer": "B", TIME}',
    ],
)
def test_the_last_object_outside_of_thinking_counts(response: str) -> None:
    assert _strict(NEXT, response.replace("TIME", TIME)) == (1.0, "B")


@pytest.mark.parametrize(
    "line",
    [
        "Answer: B",
        "**Answer: (B)**",
        "final answer: c03 -> c01 -> c02",
        "answer = b.",
        "Answer: B\nI doubt it",
    ],
)
def test_a_line_that_names_the_answer_counts(line: str) -> None:
    assert _strict(ORDER, f"Judging by the data.\n{line}\n") == (1.0, "B")


@pytest.mark.parametrize("response", ["B", "Option B", "Answer: B. Option A is too far away."])
def test_a_reply_in_words_names_an_option(response: str) -> None:
    assert _strict(ORDER, response) == (1.0, "B")


@pytest.mark.parametrize(
    "response", [None, "", "Not B", "<think>Answer: B", '{"arguments": {"answer": "B"}}']
)
def test_what_is_no_answer_is_none(response: str | None) -> None:
    assert _strict(ORDER, response) == (0.0, None)


@pytest.mark.parametrize("arrow", ["→", " -> ", "->", " ⇒ ", "  →  "])
def test_an_order_may_be_written_with_any_arrow(arrow: str) -> None:
    assert _strict(ORDER, json.dumps({"answer": arrow.join(("c03", "c01", "c02"))})) == (1.0, "B")


def test_equal_options_are_one_answer() -> None:
    assert _strict(ORDER, '{"answer": "C"}') == _strict(ORDER, '{"answer": "A"}') == (0.0, "A")


@pytest.mark.parametrize(
    ("span", "value"),
    [
        ("12:00:10.000-12:00:20.000", 1.0),
        ("12:00:15 – 12:00:25.0", 1 / 3),
        ("12:00:10.5~12:00:20.5", 19 / 21),
        ("43210 to 43220", 1.0),
        ("12:00:20-12:00:10", 0.0),
        ("12:00:20.000-12:00:30.000", 0.0),
        ("00:10-00:20", 0.0),
        ("12:00:10", 0.0),
    ],
)
def test_strict_reads_intervals_as_written(span: str, value: float) -> None:
    got, _ = _strict(NEXT, json.dumps({"answer": "B", "time_duration": [span]}))
    assert got == pytest.approx(value)


def test_a_wrong_place_earns_nothing_but_its_overlap_is_told() -> None:
    score = score_case(NEXT, '{"answer": "A", TIME}'.replace("TIME", TIME), scoring="strict")
    assert (score.value, score.metrics["MCQacc"], score.metrics["TimeIoU"]) == (0.0, 0.0, 1.0)


def test_a_missing_time_is_flagged() -> None:
    assert score_case(NEXT, '{"answer": "B"}', scoring="strict").flags == ("no_time",)


def test_a_trajectory_is_the_mean_over_both_places_in_order() -> None:
    times = list(PAIR.correct_time_str)

    def score(*answer: str) -> tuple[float | None, str | None]:
        return _strict(PAIR, json.dumps({"answer": list(answer), "time_duration": times}))

    assert score("E", "A") == (1.0, "E, A")
    assert score("c05", "B") == (0.5, "E, B")
    assert score("A", "E") == (0.0, "A, E")
    assert score("E") == score("E", "A", "B") == (0.0, None)
    assert _strict(PAIR, "Answer: E, A") == (0.0, "E, A")


def test_letters_are_those_of_the_displayed_options(reordering: Entry, arrival: Entry) -> None:
    order = case_from_json(reordering, "indoor")
    for scoring in ("strict", "official"):
        right = score_case(order, '{"answer": "B"}', scoring=scoring, protocol="guarded")
        wrong = score_case(order, '{"answer": "C"}', scoring=scoring, protocol="guarded")
        assert (right.value, wrong.value) == (1.0, 0.0)
        rounded = '{"answer": "12:00:13.500-12:00:14.500"}'
        case = case_from_json(arrival, "indoor")
        assert score_case(case, rounded, scoring=scoring, protocol="guarded").value == 1.0


def test_an_answer_that_names_all_options_is_worth_one_officially_and_flagged() -> None:
    response = json.dumps({"answer": list(ORDER.choices)})
    score = score_case(ORDER, response, scoring="official")
    assert (score.value, score.flags) == (1.0, ("gamed:all_options",))
    assert score_case(ORDER, response, scoring="strict").value == 0.0


@pytest.mark.parametrize(
    ("response", "value", "flag"),
    [
        ('{"answer": ["A", "B"]}', 1.0, "gamed:several_options"),
        ('{"answer": "→"}', 0.0, "gamed:fragment"),
        ("Error: 500", 0.0, "error_text"),
        (None, 0.0, "official_raises:TypeError"),
    ],
)
def test_official_oddities_are_scored_and_flagged(response: str | None, value: float, flag: str) -> None:
    score = score_case(ORDER, response, scoring="official")
    assert (score.value, score.flags) == (value, (flag,))


@pytest.mark.parametrize("answer", ["B", "B. c09", "c09", "c095"])
def test_an_honest_answer_is_not_flagged(answer: str) -> None:
    assert score_case(NEXT, json.dumps({"answer": answer}), scoring="official").flags == ()


WORDS = st.sampled_from(
    (
        *('{"answer":', "{", "}", "[", "]", '"', ":", ",", "A", "c09", "B. c09", "answer:", "\n", "<think>"),
        *("</think>", '"time_duration":', "12:00:10-12:00:20", "-", "→", "null", "NaN", "1e999", "\\ud800"),
    )
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map("".join))
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
REPLIES = TEXTS | st.builds(lambda a, t: json.dumps({"answer": a, "time_duration": t}), VALUES, VALUES)


@pytest.mark.parametrize("case", [NEXT, PAIR, ORDER], ids=lambda case: str(case.task.short))
@pytest.mark.parametrize("scoring", ["strict", "official"])
@pytest.mark.parametrize("protocol", ["guarded", "official"])
@given(response=REPLIES)
def test_whatever_a_model_writes_gets_a_score(
    case: Case, scoring: Scoring, protocol: PromptProtocol, response: str
) -> None:
    score = score_case(case, response, scoring=scoring, protocol=protocol)
    assert score.value is not None
    assert set(score.metrics) == {"score", "MCQacc", "TimeIoU"}
    assert all(isinstance(number, float) and 0.0 <= number <= 1.0 for number in score.metrics.values())
    assert score.answer is None or score.answer.encode()
    if scoring == "strict":
        assert (score.answer is None) == ("no_answer" in score.flags)


TIMES = re.compile(r'"time_duration"\s*:\s*\[(.*?)\]', re.DOTALL)  # as released: slow where no bracket closes
PIECES = st.sampled_from(('"time_duration"', ":", " ", "[", "]", '"12:00-13:00"', "'", "\n", "x"))


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ('{"answer": "  "}', 1.0),  # nothing, once trimmed, is contained in the first option
        ('{"answer": "\\n\\t"}', 1.0),
        ('{"answer": ["\u3000"]}', 1.0),
        ('{"answer": " ", # broken JSON}', 1.0),
        ('{"answer": ["", null]}', 0.0),
        ('{"answer": ""}', 0.0),
        ("   ", 0.0),
        ("", 0.0),
    ],
)
def test_an_answer_of_blanks_is_officially_the_first_option_and_flagged(response: str, value: float) -> None:
    case = replace(ORDER, ground_truth=ORDER.choices[0])
    score = score_case(case, response, scoring="official")
    assert (score.value, "gamed:fragment" in score.flags) == (value, value == 1.0)
    assert score_case(ORDER, response, scoring="official").value == 0.0
    assert score_case(case, response, scoring="strict").value == 0.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12:00:58.9.9", 43258.009),
        ("12:00:58.9.", 43258.009),
        ("12:00:58.9.x", 43258.009),
        ("12:00:58..9", 0.0),
        ("12:00:58.x.9", 0.0),
        (".5:00:58", 0.0),
        ("12:00:.5", 0.0),
    ],
)
def test_a_second_point_in_an_official_time_ends_its_fraction(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds, abs=1e-12)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_times_are_picked_out_of_broken_json_as_the_released_pattern_does(text: str) -> None:
    match = TIMES.search(text)
    found = re.findall(r"""["']([^"']*)["']""", match[1]) if match else None
    assert extract_elements(text).get("time_duration") == found


@pytest.mark.parametrize(
    "piece", ['"time_duration":[', '{"answer":"A', '{"a":[', "<think>", '"explanation":"']
)
@pytest.mark.parametrize("scoring", ["strict", "official"])
def test_a_reply_that_repeats_itself_for_megabytes_is_scored_at_once(piece: str, scoring: Scoring) -> None:
    assert score_case(NEXT, "{" + piece * 200_000 + "}", scoring=scoring).value == 0.0


SPANS = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)).map(
    lambda ends: (min(ends) / 1e3, max(ends) / 1e3)
)


@given(SPANS, SPANS)
def test_interval_iou_is_symmetric_and_one_only_for_equals(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    assert span_iou(one, other) == span_iou(other, one)
    assert (span_iou(one, other) == 1.0) == (one == other and one[0] < one[1])


@given(SPANS)
def test_a_written_interval_reads_back(span: tuple[float, float]) -> None:
    read = day_span(clock_span(*span))
    assert read == pytest.approx(tuple(end + 43_200 for end in span), abs=1e-6)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"case": {"task_id": "CausalReordering", "choices": ["A. x"], "ground_truth": "A. x"}}, "response"),
        ({"response": 3, "case": {}}, "response"),
        ({"response": "x"}, "case"),
        ({"response": "x", "case": {"task_id": "GL", "choices": []}}, "case.task_id"),
        ({"response": "x", "case": {"task_id": "GeoLocation", "ground_truth": "A. x"}}, "case.choices"),
        ({"response": "x", "case": {"task_id": "GeoLocation", "choices": ["A. x"]}}, "case"),
    ],
)
def test_a_record_that_cannot_be_scored_is_refused_by_field(record: Entry, field: str) -> None:
    with pytest.raises(SpecError) as caught:
        gtr_bench.score_record(record, scoring="official")
    assert caught.value.field == field


def test_a_record_needs_only_what_scoring_reads(reordering: Entry) -> None:
    case = {key: reordering[key] for key in ("task_id", "choices", "ground_truth")} | {
        "camera_images": "gone"
    }
    score = gtr_bench.score_record({"id": 1, "case": case, "response": '{"answer": "B"}'}, scoring="official")
    assert score.metrics == {"score": 1.0, "MCQacc": 1.0, "TimeIoU": 0.0}


def test_there_is_no_variant() -> None:
    with pytest.raises(SpecError, match="one official scorer"):
        gtr_bench.score_record({}, scoring="official", variant="v2")
