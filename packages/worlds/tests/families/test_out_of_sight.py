"""Questions about bodies out of sight: their truth, computed another way, and what gives nothing away."""

import asyncio
import math
import re
from collections import Counter

import pytest

from gnomon.core.model import Request
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models.reference.model import ReferenceModel
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.families.permanence import (
    COMES_OUT,
    FEWEST_HIDDEN,
    ORDER_HIDDEN,
    STILL_HIDDEN,
    WHERE_HIDDEN,
)
from gnomon_worlds.families.sample_making import FAMILIES, draw_question
from gnomon_worlds.solver.hidden_questions import read_hidden_question
from packages.worlds.tests.families.drawn import question as question_of
from packages.worlds.tests.families.second_truth import right_words, sightings_read

HIDING = (WHERE_HIDDEN, STILL_HIDDEN, COMES_OUT, ORDER_HIDDEN, FEWEST_HIDDEN)
SCENES = ("outdoor", "indoor")
COUNT, TOLD, TOLD_INDOORS = 24, 6, 2
HARD = Difficulty(level="hard")
_HEAD = re.compile(r"camera (\S+), a \w+, ")
UNKNOWN = "it cannot be determined"


@pytest.mark.parametrize("family", HIDING, ids=lambda family: family.short)
def test_in_towns_the_truth_follows_from_the_text_and_a_graph_of_streets_built_anew(family):
    for k in range(TOLD):
        drawn = draw_question(FamilyNumber(family, "outdoor", 3, k))
        assert drawn.question.options[drawn.question.right].startswith(right_words(drawn))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.short)
@pytest.mark.parametrize("difficulty", [None, HARD], ids=["as it comes", "hard"])
def test_in_buildings_the_truth_follows_from_the_text_and_a_grid_of_the_floors(family, difficulty):
    for k in range(TOLD_INDOORS):
        drawn = draw_question(FamilyNumber(family, "indoor", 3, k, difficulty))
        assert drawn.question.options[drawn.question.right].startswith(right_words(drawn))


@pytest.mark.parametrize("family", HIDING, ids=lambda family: family.short)
@pytest.mark.parametrize("scene", SCENES)
def test_every_option_and_every_letter_is_right_as_often(family, scene):
    words, letters = Counter(), Counter()
    for k in range(COUNT):
        question = question_of(FamilyNumber(family, scene, 5, k))
        named = question.options[question.right]
        words[named if named == UNKNOWN or family is not WHERE_HIDDEN else "a place"] += 1
        letters[question.gold] += 1
    options = len(question.options)
    deviation = math.sqrt(COUNT * (1 / options) * (1 - 1 / options))
    for counts in (letters,) if family is WHERE_HIDDEN else (letters, words):
        assert len(counts) == options
        assert all(abs(count - COUNT / options) < 3.5 * deviation for count in counts.values())
    if UNKNOWN in question.options:
        assert abs(words[UNKNOWN] - COUNT / options) < 3.5 * deviation


@pytest.mark.parametrize("family", HIDING, ids=lambda family: family.short)
def test_rules_of_thumb_find_the_answer_no_more_often_than_a_guess(family):
    questions = [question_of(FamilyNumber(family, s, 5, k)) for s in SCENES for k in range(COUNT)]
    chance = 1 / len(questions[0].options)
    deviation = math.sqrt(len(questions) * chance * (1 - chance))
    for rule in questions[0].rules:
        hits = sum(question.right in question.rules[rule] for question in questions)
        assert hits < len(questions) * chance + 3.5 * deviation, rule


def test_bodies_go_out_of_sight_before_any_comes_and_by_different_cameras():
    for family in HIDING[1:]:
        for k in range(8):
            drawn = draw_question(FamilyNumber(family, "outdoor", 5, k))
            went = 3 if family in (STILL_HIDDEN, FEWEST_HIDDEN) else 2
            seen = sightings_read(drawn)
            assert max(each[3] for each in seen[:went]) < min(each[2] for each in seen[went:])
            cameras = [_HEAD.search(text)[1] for text in drawn.question.evidence]
            assert len(set(cameras)) == len(cameras) == 5


def test_families_of_hidden_bodies_come_after_those_that_were_there():
    assert [family.short for family in FAMILIES[:3]] == ["same", "which", "fewest"]
    assert FAMILIES[3:] == HIDING
    ref = FamilyNumber(COMES_OUT, "outdoor", 7, 12).ref()
    assert (ref.sample_id, ref.cluster) == ("out2-outdoor-7-00012", "w7-with~occluded-outdoor-3")


def messages_of(drawn):
    question = drawn.question
    options = "\n".join(f"{letter}. {words}" for letter, words in question.by_letter.items())
    texts = [*question.evidence, f"Question: {question.text}\nOptions:\n{options}"]
    return [{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}]


def test_the_reference_reads_these_questions_and_guesses_without_tools():
    for family in HIDING:
        messages = messages_of(draw_question(FamilyNumber(family, "indoor", 5, 0)))
        read = read_hidden_question(messages)
        assert read is not None
        assert (read.slow_mps, read.top_mps) == (0.9, 2.0)
        assert len(read.sightings) == (2 if family is WHERE_HIDDEN else 5)
        reply = asyncio.run(
            ReferenceModel(ModelSpec(id="reference")).reply(Request(messages=messages, tools=()))
        )
        assert '"answer"' in reply.text
