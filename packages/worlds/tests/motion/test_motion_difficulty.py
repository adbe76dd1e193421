"""Levels of questions about moving cameras: where short ways end, and truth from the prompt's text alone."""

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit.audit import audit
from gnomon_tools.geometry.kinematics import displacement_m
from gnomon_worlds.benchmarks.worlds_motion import worlds_motion
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family_numbers import FamilyNumber, family_number_of
from gnomon_worlds.motion.features import FEATURES, of_way
from gnomon_worlds.motion.ride_questions import average_mps, average_mps2, straight_mps
from gnomon_worlds.motion.sample_making import MOTION_TASKS, RIDING, draw_motion, tour_of
from gnomon_worlds.motion.short_ways import Settled, ShortWay
from gnomon_worlds.recordings import truth

EASY, HARD = Difficulty(level="easy"), Difficulty(level="hard")
COUNT = 3
WORDED = ("side", "next", "nearer", "longer", "mark", "goal")  # whose options are words
BY_SHORT = {task.short: task for task in MOTION_TASKS}
tasks = pytest.mark.parametrize("task", MOTION_TASKS, ids=lambda task: task.short)
ROW = re.compile(
    r"^([\d.]+) s: \((\S+), (\S+), (\S+)\)(?:, ahead (\S+)°, camera (\S+)° (up|down))?", re.MULTILINE
)


def drawn(task, difficulty, k, seed=5):
    return draw_motion(FamilyNumber(task, task.scenes[0], seed, k, difficulty))


@tasks
def test_in_easy_questions_every_short_way_finds_the_answer(task):
    for k in range(COUNT):
        question = drawn(task, EASY, k).question
        assert all(left == (question.right,) for left in question.rules.values())


@pytest.mark.parametrize(
    "task",
    [task for task in MOTION_TASKS if task.short not in (*WORDED, "step")],
    ids=lambda task: task.short,
)
def test_in_hard_questions_of_numbers_a_short_way_ends_far_off_or_leaves_all_options(task):
    for k in range(COUNT):
        question = drawn(task, HARD, k).question
        assert question.rules
        everything = [left for left in question.rules.values() if len(left) == len(question.options)]
        assert len(everything) == len(question.rules) or question.features["closeness"] > 1


def test_one_short_way_that_ends_near_the_right_option_makes_a_question_unfit_for_hard():
    options, points = ("a", "b", "c"), [[0.0], [1.0], [2.0]]
    far, near = (ShortWay.to("it", [end], points) for end in (9.0, 0.1))
    hard = Settled(is_sure=False, place=0.0)
    assert hard.admits([far], options)
    assert not hard.admits([far, near], options)


@pytest.mark.parametrize("short", WORDED)
def test_in_hard_questions_of_words_a_short_way_ends_at_words_that_are_settled(short):
    task, ends = BY_SHORT[short], set()
    for k in range(COUNT):
        question = drawn(task, HARD, k).question
        (left,) = question.rules.values()
        (place,) = left
        number = FamilyNumber(task, task.scenes[0], 5, k, HARD)
        assert number.level == "hard"
        ordered = sorted(question.options)
        ends.add((ordered.index(question.options[place]) - ordered.index(question.options[question.right]))
                 % len(ordered))  # fmt: skip
    assert len(ends) > 1


def test_a_spare_town_is_looked_at_where_the_first_one_holds_no_way_so_bent():
    number = FamilyNumber(BY_SHORT["turn"], RIDING, 11, 7, HARD)
    first = next(tour for spare in range(9) if (tour := tour_of(RIDING, 11, number.place, 7, spare, HARD)))
    assert draw_motion(number).tour.world.scene.id != first.world.scene.id


def test_hard_steps_have_options_alike_whichever_is_right():
    for difficulty, is_alike in ((EASY, False), (HARD, True)):
        for k in range(COUNT):
            question = drawn(BY_SHORT["step"], difficulty, k).question
            kinds = {re.sub(r"step \d+: |( up| down)? \d+.*", "", words) for words in question.options}
            assert (len(kinds) < 4) is is_alike


def test_what_a_level_asks_of_options_does_not_depend_on_which_is_right():
    points = [[0.0], [1.0], [3.0]]
    sure, wide = Settled(is_sure=True, place=0.0), Settled(is_sure=False, place=0.0)
    for right in range(3):
        options = [points[right], *(point for index, point in enumerate(points) if index != right)]
        for off, is_sure, is_wide in ((0.4, True, False), (0.6, False, False), (4.6, False, True)):
            way = ShortWay.to("way", [options[0][0] + off], options)
            assert sure.admits([way], "abc") is is_sure
            assert wide.admits([way], "abc") is is_wide


def test_rates_of_all_parts_at_once_are_those_of_each_by_the_published_formulas():
    tour = tour_of(RIDING, 5, 0, 1, 0)
    positions_m, times_s = tour.track(None), np.array(tour.times_s)
    parts = [(a, b) for a in range(len(times_s)) for b in range(a + 2, len(times_s))]
    first, last = np.array(parts).T
    for (a, b), straight, speed, gain in zip(
        parts,
        straight_mps(positions_m, times_s, first, last),
        average_mps(positions_m, times_s, first, last),
        average_mps2(positions_m, times_s, first, last),
        strict=True,
    ):
        times, way = tour.recording.part(a, b).track(None)
        assert straight == pytest.approx(displacement_m(way) / (times[-1] - times[0]))
        assert speed == pytest.approx(truth.average_speed(way, times))
        assert gain == pytest.approx(truth.average_acceleration(way, times))


def rows_of(question):
    """The log's rows: seconds, a place as a complex number, height, and where told heading and tilt."""
    return [
        (float(t), complex(float(x), float(y)), float(z), *((math.radians(float(a)), float(b)) if a else ()))
        for t, x, y, z, a, b, _ in ROW.findall(question.evidence[0])
    ]


def right_of_flight(short, text, rows):
    """What is right of a flight, in the option's words."""
    if short == "ends":
        own = (rows[-1][1] - rows[0][1]) * complex(math.cos(rows[0][3]), -math.sin(rows[0][3]))
        turn = math.degrees(math.atan2(own.imag, own.real))
        return f"{abs(own):.0f} m away, {abs(turn):.0f}° to the {'left' if turn > 0 else 'right'}"
    second = int(re.search(r"Until (\d+) s", text)[1])
    before, after = rows[second], rows[second + 1]
    if abs(after[1] - before[1]) > 0.1:
        return "it flies forward"
    if abs(after[2] - before[2]) > 0.1:
        return "it climbs" if after[2] > before[2] else "it descends"
    turned = math.sin(after[3] - before[3])
    if abs(turned) > 0.01:
        return "it turns left" if turned > 0 else "it turns right"
    return "it tilts the camera"


def right_by_text(short, question):
    """What is right, from the prompt's text alone, by complex numbers: a number or words of the option."""
    text, log, rows = question.text, question.evidence[0], rows_of(question)
    steps = [abs(b[1] - a[1]) for a, b in pairwise(rows)]
    if short == "length":
        return abs(rows[-1][1] - rows[0][1]) if "displacement" in text else sum(steps)
    if short == "speed":
        pace = [step / (b[0] - a[0]) for step, (a, b) in zip(steps, pairwise(rows), strict=True)]
        seconds = rows[-1][0] - rows[0][0]
        return sum(steps) / seconds if "speed" in text else (pace[-1] - pace[0]) / (rows[-1][0] - rows[1][0])
    if short in ("turn", "pose"):
        at, heading = 0j, 0.0
        for x, y, turned in re.findall(r"\((\S+), (\S+), \S+\), turned (\S+)°", log):
            at += complex(float(x), float(y)) * complex(math.cos(heading), math.sin(heading))
            heading += math.radians(float(turned))
        if short == "turn":
            return math.degrees(heading)
        told = json.loads(text[text.index("{") : text.index("}") + 1])
        first = complex(told["r11"], told["r21"])
        return np.array([complex(told["tx"], told["ty"]) + at * first, 5 * first * np.exp(1j * heading)])
    if short == "side":
        middles = [complex(float(x), float(y)) for x, y in re.findall(r"middle \((\S+), (\S+), \S+\)", log)]
        ahead = math.radians(float(re.search(r"ahead is (\S+)°", log)[1]))
        between = (middles[0] - middles[1]) * complex(math.cos(ahead), -math.sin(ahead))
        if abs(between.real) > abs(between.imag):
            return "Back" if between.real > 0 else "Front"
        return "Left" if between.imag > 0 else "Right"
    return right_of_flight(short, text, rows)


def is_right_by_text(short, question):
    """Whether the text leads to the option that counts as right, nearer than to any other."""
    found = right_by_text(short, question)
    if isinstance(found, str):
        return question.options[question.right] == found
    if isinstance(found, np.ndarray):  # a place, and a direction that counts five metres
        poses = [json.loads(option) for option in question.options]
        ends = [[complex(pose["tx"], pose["ty"]), 5 * complex(pose["r11"], pose["r21"])] for pose in poses]
        away = np.abs(np.array(ends) - found).sum(axis=1).tolist()
    else:
        away = [abs(float(re.match(r"-?[\d.]+", option)[0]) - found) for option in question.options]
    return away.index(min(away)) == question.right


@pytest.mark.parametrize("short", ["side", "length", "speed", "turn", "pose", "next", "ends"])
def test_at_every_level_truth_follows_from_the_text_another_way(short):
    for difficulty in (None, EASY, Difficulty(level="medium"), HARD):
        for k in range(COUNT):
            question = drawn(BY_SHORT[short], difficulty, k).question
            assert is_right_by_text(short, question), (difficulty, k)


def test_an_id_names_the_difficulty_and_levels_take_turns(tmp_path):
    size = MOTION_TASKS[0]
    for difficulty in (None, EASY, HARD, Difficulty.of({"turn_deg": (60, 200)}, features=FEATURES)):
        number = FamilyNumber(size, RIDING, 7, 12, difficulty)
        assert family_number_of(number.sample_id, MOTION_TASKS) == number
    assert FamilyNumber(size, RIDING, 7, 12, HARD).sample_id == "size2-riding-7-hard-00012"
    select = Select.model_validate({"limit": 4, "difficulty": "mixed", "tasks": ["Sequence Recall"]})
    opened = worlds_motion.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    samples = [opened.get(ref.sample_id) for ref in opened.refs]
    levels = [worlds_motion.features(sample)["level"] for sample in samples]
    assert levels == ["as it comes", "easy", "medium", "hard"]
    assert len({sample.ref.cluster for sample in samples}) == 4
    assert worlds_motion.heuristic_scores(samples[1]) == {"as after the same elsewhere": 1.0}
    with pytest.raises(NotFound):
        opened.get("next1-flying-0-hard-00001")


def test_ranges_of_features_are_met_and_an_unknown_feature_is_named(tmp_path):
    bent = Difficulty.of({"turn_deg": (80, 300)}, features=FEATURES)
    for k in range(2):
        assert 80 <= drawn(BY_SHORT["pose"], bent, k).question.features["turn_deg"] <= 300
    select = Select.model_validate({"limit": 2, "difficulty": {"targets": (1, 2)}})
    with pytest.raises(SpecError, match="no feature 'targets'"):
        worlds_motion.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))


def test_features_are_among_those_that_may_be_asked_for():
    for task in MOTION_TASKS:
        assert drawn(task, None, 0).question.features.keys() <= set(FEATURES)


@pytest.mark.parametrize(("end_m", "detour"), [((0.0, 0.0), 1.0), ((0.4, 0.0), 1.0), ((3.0, 4.0), 7 / 5)])
def test_what_hardly_moves_has_no_detour(end_m, detour):
    positions_m = np.array([(0.0, 0.0, 0.0), (end_m[0], 0.0, 0.0), (*end_m, 0.0)])
    assert of_way(np.array([0.0, 1.0, 2.0]), positions_m)["detour"] == pytest.approx(detour)


def test_the_audit_tells_short_ways_by_level(tmp_path):
    select = Select.model_validate({"limit": 8, "seed": 3, "difficulty": "mixed", "tasks": ["Duration"]})
    findings = audit(worlds_motion, data=None, select=select, media=MediaStore(tmp_path))
    by_level = {
        row.cell: row.value
        for row in findings.by_level
        if (row.shortcut, row.view) == ("short way: at the usual pace", "guarded")
    }
    assert by_level["easy"] == 1.0
    assert by_level.keys() == {"as it comes", "easy", "medium", "hard"}
