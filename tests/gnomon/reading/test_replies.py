"""The reader of replies: what a person reads in them is read, whoever wrote them, and nothing else."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.benchmarks.questions import questions
from gnomon.benchmarks.questions.scorers.scorers import make_scorer
from gnomon.core.benchmark import BENCHMARKS
from gnomon.reading import declarations
from gnomon.reading.choices import read_choice
from gnomon.reading.declarations import MAX_READ, MAX_TRIED, Rule, declarations_in, what_is_said
from gnomon.reading.quantities import read_number
from gnomon_published.benchmarks.escherverse.item import SINGLE

HERE = Path(__file__).parent
OPTIONS = dict(
    zip("ABCD", ("the north gate", "the east gate", "the river path", "the car park"), strict=True)
)


def lines_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def test_the_options_that_a_person_reads_are_read() -> None:
    misread = []
    for case in lines_of("choices.jsonl"):
        reading = read_choice(case["response"], dict(zip("ABCDEF", case["options"], strict=False)))
        if reading.value != case["want"] or (reading.read_by in get_args(Rule)) != (
            reading.value is not None
        ):
            misread.append((case["response"], case["want"], reading))
    assert misread == []


def test_the_values_that_a_person_reads_are_read() -> None:
    misread = []
    for case in lines_of("values.jsonl"):
        scorer = make_scorer(case["scorer"])
        score = scorer.score(scorer.truth(case["answer"]), case["response"])
        is_right = score.value == float(case["want"]) and bool(score.read_by) == (score.answer is not None)
        is_flagged = not case["flag"] or (score.answer is None and case["flag"] in score.flags)
        if not (is_right and is_flagged):
            misread.append((case["response"], case["want"], case["flag"], score))
    assert misread == []


def test_the_given_replies_are_read_as_wanted(cases_dir: Path) -> None:
    file = cases_dir / "replies.jsonl"
    command = [sys.executable, "-m", "gnomon_service.cli", "score", "--benchmark", "questions"]
    run = subprocess.run(command, input=file.read_bytes(), capture_output=True, check=True)
    scores = [json.loads(line) for line in run.stdout.splitlines()]
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(scores) == len(cases)
    misread = []
    for case, score in zip(cases, scores, strict=True):
        is_letter = "options" in case
        wanted = float(case["want"] == case["answer"] if is_letter else case["want"])
        if score["score"] != wanted:
            misread.append((case["id"], case["response"], score))
        if is_letter and case["want"] is None and "no_answer" not in score["flags"]:
            misread.append((case["id"], case["response"], score))
    assert misread == []


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("It turns.\nAnswer: B", "asked_form"),
        ('{"answer": "B"}', "asked_form"),
        ("<answer>B</answer>", "tag"),
        (r"\boxed{B}", "box"),
        ("So the answer is B, I think.", "declared"),
        ("B", "whole"),
        ("B, as the gate is open.", "leading"),
        ("It turns at the light.\n\nB", "last_line"),
        ("It left by the east gate.", "only_mention"),
    ],
)
def test_the_rule_by_which_an_answer_was_read_is_told(reply: str, rule: Rule) -> None:
    reading = read_choice(reply, OPTIONS)
    assert (reading.value, reading.read_by) == ("B", rule)


@pytest.mark.parametrize("several", ["Answer: B or C", "A; C", "Answer: B (or C)", '{"answer": ["A", "B"]}'])
def test_several_answers_are_none_and_flagged(several: str) -> None:
    assert read_choice(several, OPTIONS).flags == ("no_answer", "several_answers")


def test_a_lower_rank_does_not_take_back_a_higher_one() -> None:
    assert read_choice('The answer is A. {"answer": "B"} Option C is near.', OPTIONS).value == "B"
    assert read_choice("Answer: B\nOption A, option C and option D are too far.", OPTIONS).value == "B"


PARTS = st.sampled_from(
    (
        *(
            "Answer: ",
            "A",
            "B",
            "(C)",
            " or ",
            "not ",
            "the east gate",
            "{",
            "}",
            '"answer": ',
            "[",
            "]",
            ", ",
        ),
        *(
            "\\boxed{",
            "<answer>",
            "</answer>",
            "\n",
            "**",
            "12",
            ".5 m",
            "is correct",
            "1,2",
            "½",
            "² ",
            "答案是",
        ),
    )
)


@given(st.lists(PARTS, max_size=30).map("".join) | st.text())
def test_whatever_is_written_is_read_as_one_option_or_none(reply: str) -> None:
    reading = read_choice(reply, OPTIONS)
    assert reading.value is None or reading.value in OPTIONS
    assert (reading.value is None) == ("no_answer" in reading.flags)
    read_number(reply, "m")


@given(st.sampled_from("ABCD"), st.permutations("ABCD"), st.randoms())
def test_an_explanation_does_not_change_a_declared_letter(
    letter: str, others: list[str], chance: random.Random
) -> None:
    explained = [
        f"Option {other} is {OPTIONS[other]}, {chance.choice(['too far', 'closed', 'slow'])}."
        for other in others
    ]
    opening = chance.choice([f"Answer: {letter}.", f"**Answer:** {letter}", f"The answer is ({letter})."])
    assert read_choice(f"{opening} {' '.join(explained)}", OPTIONS).value == letter


@pytest.mark.parametrize(
    "piece",
    [
        "((((",
        "\\boxed{",
        '{"answer":',
        "Answer: ",
        "Answer: Answer:",
        "<answer>",
        "1",
        "B or ",
        "`",
        "答案是",
    ],
)
def test_a_reply_that_repeats_itself_is_read_in_part(piece: str) -> None:
    """A bound on what is looked at, not on seconds: beginning and end of the text, the last declarations."""
    said = what_is_said(piece * (1_000_000 // len(piece)))
    assert len(said.text) <= MAX_READ + 1
    declared = list(declarations_in(said, "line"))
    assert len(declared) <= 20 * MAX_TRIED
    in_words = [d for d in declared if d.rule in ("asked_form", "declared")]
    assert sum(len(declaration.text) for declaration in in_words) <= MAX_READ  # each is read once


def test_a_call_that_never_ends_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every quote against every other takes seconds, so what does not end as a call does is not matched."""
    monkeypatch.setattr(declarations, "_CALL_ALONE", None)
    text = "f(" + 9 * '"'
    assert what_is_said(text).text == text


def test_beginning_and_end_of_a_long_reply_are_read() -> None:
    filler = "The van drives on. " * 60_000
    assert read_choice(f"Answer: B\n{filler}", OPTIONS).value == "B"
    assert read_choice(f"{filler}\nAnswer: B", OPTIONS).value == "B"


@pytest.mark.parametrize(
    ("answer", "value"), [(100, 1.0), (96, 1.0), (94, 0.9), (110, 0.9), (149, 0.1), (151, 0.0), (40, 0.0)]
)
def test_mean_relative_accuracy_is_the_share_of_thresholds_kept(answer: float, value: float) -> None:
    scorer = make_scorer({"mra": True})
    assert scorer.score(scorer.truth(100), f"Answer: {answer}").value == pytest.approx(value)


def test_an_angle_goes_round() -> None:
    scorer = make_scorer({"angle": {"tolerance": 5}})
    truth = scorer.truth(358)
    assert [scorer.score(truth, f"Answer: {reply}").value for reply in ("2°", "-3", "north", "10°")] == [
        1,
        1,
        1,
        0,
    ]


def test_a_record_of_questions_says_by_which_rule_it_was_read() -> None:
    record = {
        "id": "a",
        "question": "Which?",
        "options": list(OPTIONS.values()),
        "answer": "B",
        "response": "B",
    }
    assert questions.score_record(record, scoring="strict").read_by == "whole"


SAID = [
    f"{opening} {reason}"
    for opening in (
        "Answer: B.",
        "**Answer: B**\n\n",
        "The answer is (B).",
        "B is correct.",
        "Final answer: B\n",
    )
    for reason in (
        "Option A is too far away.",
        "(Option A was tempting.)",
        "Option C leads away from the camera.",
        "I first thought of option D.",
    )
]
CASE = {
    "task_id": "CausalReordering",
    "choices": ["A. c01 → c02", "B. c02 → c01", "C. c03 → c01"],
    "ground_truth": "B. c02 → c01",
}
ASKED: dict[str, dict[str, Any]] = {
    "worlds-families": {"answer": "B"},
    "worlds-motion": {"answer": "B"},
    "sti-bench": {"answer": "B"},
    "urbanvideo-bench": {"answer": "B"},
    "plan-pairs": {"preferred": "B"},
    "escherverse": {
        "question_type": SINGLE,
        "answer": "B",
        "question": "Which? [Options] A) left B) right C) up D) down",
    },
    "worlds": {"case": CASE},
    "gtr-bench": {"case": CASE},
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("reply", SAID)
def test_each_benchmark_reads_what_is_declared_and_not_what_is_explained(name: str, reply: str) -> None:
    score = BENCHMARKS.get(name).score_record({**ASKED[name], "response": reply}, scoring="strict")
    assert (score.value, bool(score.read_by)) == (1.0, True)


@pytest.mark.parametrize("reply", ["Answer: 2. Option 1 is too far away.", '{"option_no": 2}', "Option 2"])
def test_mapeval_reads_numbers_of_options(reply: str) -> None:
    record = {"answer": {"options": ["far", "near", "here"], "correct": 1}, "response": reply}
    assert BENCHMARKS.get("mapeval").score_record(record, scoring="strict").value == 1.0
