"""Levels of the further families: what rules of thumb and half of the reasoning find at each."""

import pytest

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit.audit import audit
from gnomon_worlds.benchmarks.worlds_families import worlds_families
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family_numbers import FamilyNumber, family_number_of
from gnomon_worlds.families.features import FEATURES, features_of
from gnomon_worlds.families.sample_making import FAMILIES, draw_question
from packages.worlds.tests.families.drawn import question as question_of
from packages.worlds.tests.families.second_truth import agrees, right_words

SAME, WHICH, FEWEST, WHERE, STILL, OUT, ORDER, HIDDEN = FAMILIES
EASY, HARD = Difficulty(level="easy"), Difficulty(level="hard")
COUNT = 5
STRAIGHT = ("straight line", "straight line with a usual detour")
family_ids = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.short)


def questions(family, difficulty, scene="indoor", count=COUNT):
    return [question_of(FamilyNumber(family, scene, 5, k, difficulty)) for k in range(count)]


def options_left(question, left):
    return {question.options[index] for index in left}


@family_ids
def test_in_easy_questions_straight_lines_find_the_answer(family):
    for question in questions(family, EASY):
        assert all(question.rules[rule] == (question.right,) for rule in STRAIGHT if rule in question.rules)


@family_ids
def test_in_hard_questions_straight_lines_say_the_same_whatever_is_right(family):
    said = [
        frozenset(options_left(question, question.rules["straight line"]))
        for question in questions(family, HARD)
    ]
    assert len(set(said)) == 1


@pytest.mark.parametrize("family", [FEWEST, WHERE, STILL, OUT, ORDER, HIDDEN], ids=lambda each: each.short)
def test_in_hard_questions_every_step_is_needed_and_leaving_one_out_says_the_same_whatever_is_right(family):
    drawn = questions(family, HARD)
    assert len({question.right for question in drawn}) > 1
    said = {
        frozenset(options_left(question, left)) for question in drawn for left in question.halves.values()
    }
    assert len(said) == 1


def test_at_a_level_a_told_companion_matters_to_who_is_still_hidden():
    for drawn in (draw_question(FamilyNumber(STILL, "indoor", 5, k, HARD)) for k in range(COUNT)):
        assert "one of the two was the person of sighting" in drawn.question.text
        assert agrees(drawn)


@family_ids
def test_in_hard_towns_with_one_way_streets_the_truth_follows_from_the_text(family):
    for k in range(2):
        drawn = draw_question(FamilyNumber(family, "outdoor", 3, k, HARD))
        has_one_way = any(road.oneway for road in drawn.world.scene.roads.values())
        assert ("one-way" in drawn.question.text) is has_one_way
        assert drawn.question.options[drawn.question.right].startswith(right_words(drawn))


def test_an_id_names_the_difficulty_and_brings_back_the_number():
    for difficulty in (None, EASY, HARD, Difficulty.of({"detour": (1.5, 3)}, features=FEATURES)):
        number = FamilyNumber(WHICH, "indoor", 7, 12, difficulty)
        assert family_number_of(number.sample_id, FAMILIES) == number
    assert FamilyNumber(WHICH, "indoor", 7, 12, HARD).sample_id == "which2-indoor-7-hard-00012"
    assert FamilyNumber(OUT, "indoor", 7, 12, HARD).ref().cluster == "w7-hard-with~occluded-indoor-3"
    with pytest.raises(NotFound):
        family_number_of("which2-indoor-7-harder-00012", FAMILIES)


def test_levels_take_turns_in_a_mixed_selection(tmp_path):
    select = Select.model_validate({"limit": 8, "difficulty": "mixed", "tasks": ["SameTarget"]})
    opened = worlds_families.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    ids = [ref.sample_id for ref in opened.refs]
    assert ids[::2] == [f"same2-outdoor-0-{tag}00000" for tag in ("", "easy-", "medium-", "hard-")]
    levels = [worlds_families.features(opened.get(name))["level"] for name in ids]
    assert levels[::2] == levels[1::2] == ["as it comes", "easy", "medium", "hard"]
    with pytest.raises(NotFound):
        opened.get("same2-outdoor-0-hard-00001")


def test_ranges_of_features_are_met_and_an_unknown_feature_is_named(tmp_path):
    narrow = Difficulty.of({"detour": (1.6, 2.5)}, features=FEATURES)
    for k in range(4):
        drawn = draw_question(FamilyNumber(SAME, "outdoor", 5, k, narrow))
        assert 1.6 <= features_of(drawn.world, drawn.question)["detour"] <= 2.5
    select = Select.model_validate({"limit": 2, "difficulty": {"targets": (1, 2)}})
    with pytest.raises(SpecError, match="no feature 'targets'"):
        worlds_families.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))


def test_features_say_how_many_sightings_bodies_and_cameras_there_are():
    drawn = draw_question(FamilyNumber(OUT, "indoor", 5, 0, HARD))
    features = features_of(drawn.world, drawn.question)
    assert features.keys() <= set(FEATURES)
    assert (features["sightings"], features["hidden"]) == (5.0, 2.0)
    assert features["cameras_between"] >= 0


def test_the_audit_tells_rules_by_level(tmp_path):
    select = Select.model_validate({"limit": 8, "seed": 3, "difficulty": "mixed", "tasks": ["FewestTargets"]})
    findings = audit(worlds_families, data=None, select=select, media=MediaStore(tmp_path))
    by_level = {
        row.cell: row.value
        for row in findings.by_level
        if (row.shortcut, row.view) == ("half: neighbours alone", "guarded")
    }
    assert by_level["easy"] == 1.0
