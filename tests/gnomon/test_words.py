"""A job keeps the words that it began with, and each wording that was tried can be asked for."""

import re
from pathlib import Path

import pytest

from gnomon.benchmarks.questions import questions
from gnomon.benchmarks.questions.scorers.scorers import make_scorer
from gnomon.conditions.wording import worded
from gnomon.core.arm import Arm
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.select import Select
from gnomon.core.words import (
    FIRST_WORDS,
    LATEST_WORDS,
    LETTER,
    WordsVersion,
    closing,
    reworded,
    tagged_closing,
)
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec

# What jobs of the first version asked for, to the letter: cached replies and seals hang on it.
FIRST = {
    "number": (5, "Answer with one number, on a last line `Answer: <number>`."),
    '{"number": {"unit": "km/h"}}': (
        "5 km/h",
        "Answer with one number in km/h, on a last line `Answer: <number> km/h`.",
    ),
    "text": ("Oslo", "Answer in as few words as possible, on a last line of the form `Answer: <text>`."),
    "list": ("a; b", 'Answer with the complete list, on a last line of the form `Answer: ["…", "…"]`.'),
    "set": ("a; b", 'Answer with all that apply, on a last line of the form `Answer: ["…", "…"]`.'),
    "ordered_list": (
        "a; b",
        'Answer with the list in the right order, on a last line of the form `Answer: ["…", "…"]`.',
    ),
    "interval": ([3, 5], "Answer with one interval, on a last line of the form `Answer: <start>-<end>`."),
    '{"point": {"within_m": 9}}': (
        "60, 24",
        (
            "Answer with latitude and longitude in degrees, on a last line of the form `Answer: <latitude>, "
            "<longitude>`."
        ),
    ),
    '{"point": {"within_m": 9, "on": "plane"}}': (
        "60, 24",
        "Answer with x and y in metres, on a last line of the form `Answer: <x>, <y>`.",
    ),
    "judge": ("Oslo", "Answer in your own words, and say only what you are sure of."),
}


@pytest.mark.parametrize("name", FIRST)
def test_the_first_words_of_every_scorer_come_back_to_the_letter(name: str) -> None:
    scorer, (answer, first) = make_scorer(name), FIRST[name]
    latest = scorer.form(scorer.truth(answer))
    assert reworded(latest, "first_words") == first


def test_the_first_words_of_other_forms_come_back_to_the_letter() -> None:
    first = {
        closing(LETTER): "Answer with the letter of one option only.",
        closing("<option>", "one of A, B"): "Answer with one line: Option: <A, B>; Reason: <why>",
        tagged_closing("True or False"): (
            "Put the final answer (True or False) between <answer> and </answer>, and nothing else there."
        ),
    }
    assert {latest: reworded(latest, "first_words") for latest in first} == first


def test_a_question_that_quotes_the_closing_sentence_keeps_its_quotation() -> None:
    sentence = closing("<text>")
    prompt = f"Question: What does this ask for?\n{sentence}\n{sentence}"
    assert reworded(prompt, "end_json").count(sentence) == 1


@pytest.mark.parametrize(
    ("words", "asks"), [(FIRST_WORDS, "on a last line"), (LATEST_WORDS, "End your last")]
)
def test_a_job_asks_in_the_words_of_its_version(words: WordsVersion, asks: str, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("id,question,answer\n1,Where?,Oslo\n")
    samples = questions.open(
        data=tmp_path / "q.csv", select=Select(), protocol="guarded", media=MediaStore(tmp_path / "media")
    )
    sample = worded(samples.get(samples.refs[0].sample_id), "original", questions, words=words)
    assert asks in str(sample.parts[-1].content)


ALONE = re.compile(
    r"as few words|no other text|nothing but|(?:letter|answer|option|json|object) only\b", re.IGNORECASE
)


def test_no_guarded_prompt_asks_for_the_answer_and_no_word_beside_it(tmp_path: Path) -> None:
    """Real models then call no tools (docs/wording.md). Prompts of files are looked at by their own tests."""
    drawn = [benchmark for benchmark in BENCHMARKS if not benchmark.needs_data]
    assert drawn
    media = MediaStore(tmp_path)
    every = [one.open(data=None, select=Select(limit=1), protocol="guarded", media=media) for one in drawn]
    for samples in every:
        sample = samples.get(samples.refs[0].sample_id)
        texts = [part.content for part in sample.parts if isinstance(part.content, str)]
        assert [text for text in texts if ALONE.search(text)] == []


def test_a_new_job_is_frozen_with_the_latest_words_and_a_stored_one_keeps_its_own() -> None:
    written = {
        "benchmark": "worlds",
        "models": [{"id": "reference"}],
        "arms": [{"name": "a", "agent": "direct"}],
    }
    frozen = parse_spec(written, agents=("direct",))
    assert frozen.words == LATEST_WORDS
    stored_before = re.sub(r',"words":\d', "", frozen.model_dump_json())
    assert JobSpec.model_validate_json(stored_before).words == FIRST_WORDS
    assert parse_spec({**written, "words": 1}, agents=("direct",)).words == FIRST_WORDS


@pytest.mark.parametrize("wording", ["first_words", "last_line", "end_json", "when_json"])
def test_an_arm_may_ask_in_each_wording_that_was_tried(wording: str) -> None:
    assert Arm(name="a", agent="direct", wording=wording).wording == wording
