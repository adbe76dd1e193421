"""Cameras that ride and fly: poses against drawn pixels, truth computed another way, what text gives away."""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import NotFound, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.sti_bench import sti_bench
from gnomon_published.benchmarks.urbanvideo_bench import urbanvideo_bench
from gnomon_worlds.benchmarks.worlds_motion import worlds_motion
from gnomon_worlds.benchmarks.worlds_motion.audit import numbers_of, step_at_usual_pace, try_shortcuts
from gnomon_worlds.families.family_numbers import FamilyNumber, family_number_of
from gnomon_worlds.motion.flight_questions import aim_in_words, in_words
from gnomon_worlds.motion.flying import AMOUNTS, LOWEST_M, SECONDS
from gnomon_worlds.motion.generate import write_tours
from gnomon_worlds.motion.ride_questions import PACES_MPS
from gnomon_worlds.motion.sample_making import FLYING, MOTION_TASKS, PER_TOWN, RIDING, draw_motion, tour_of
from gnomon_worlds.motion.travellers import SIZES
from gnomon_worlds.recordings.wrong_options import LENGTHS, wrong_numbers, wrong_options
from gnomon_worlds.rendering.tour_clip import MOVERS, TourClip

SEED = 5
RIDES, FLIGHTS = range(6), range(12)
DRAWN = 24  # questions of a task, to count what is right
BY_SHORT = {task.short: task for task in MOTION_TASKS}


def question_of(short, k, seed=SEED):
    task = BY_SHORT[short]
    return draw_motion(FamilyNumber(task, task.scenes[0], seed, k))


@lru_cache
def rides():
    return [tour for k in RIDES if (tour := tour_of(RIDING, SEED, k // PER_TOWN, k, 0))]


def projected(recording, frame, box):
    """The box's eight corners in shares of the picture, by the recording's pose and the lens alone."""
    pose = recording.frames[frame].camera.pose()
    turn = math.radians(box.heading_deg)
    along, left = (
        np.array([math.cos(turn), math.sin(turn), 0]),
        np.array([-math.sin(turn), math.cos(turn), 0]),
    )
    length, width, height = box.size_m
    corners = [
        np.array(box.centre_m) + a * length / 2 * along + b * width / 2 * left + (0, 0, c * height / 2)
        for a in (-1, 1)
        for b in (-1, 1)
        for c in (-1, 1)
    ]
    own = (np.array(corners) - pose.position_m) @ pose.rotation  # x ahead, y left, z up
    half = math.tan(math.radians(70 / 2))
    across = 0.5 - own[:, 1] / own[:, 0] / half / 2
    down = 0.5 - own[:, 2] / own[:, 0] / half / 2 * 16 / 9
    return across, down, own[:, 0]


def test_a_box_projected_by_the_recordings_pose_lies_on_the_drawn_figure():
    checked = 0
    for tour in rides():
        clip, names = TourClip(tour=tour), [one.name for one in tour.travellers]
        for frame in range(0, len(tour.times_s), 9):
            boxes = [
                (name, across, down)
                for name, box in tour.recording.frames[frame].boxes.items()
                for across, down, depth in [projected(tour.recording, frame, box)]
                if depth.min() >= 1 and across.min() >= 0 and across.max() <= 1 and down.max() <= 1
            ]
            if not boxes:
                continue
            owner = clip.canvas(frame).owner
            rows, columns = owner.shape
            for name, across, down in boxes:
                drawn = np.argwhere(owner == MOVERS + names.index(name))
                if len(drawn) < 40:  # too far away, or a tree stands before it
                    continue
                low, high = drawn.min(axis=0), drawn.max(axis=0)
                tolerance = 3 + 0.12 * (across.max() - across.min()) * columns
                assert low[1] >= across.min() * columns - tolerance
                assert high[1] <= across.max() * columns + tolerance
                assert low[0] >= down.min() * rows - tolerance
                assert high[0] <= down.max() * rows + tolerance
                checked += 1
    assert checked >= 8


def test_who_is_hidden_by_a_house_has_no_box():
    for tour in rides():
        walls = shapely.union_all([building.area.buffer(-0.5) for building in tour.world.buildings])
        shapely.prepare(walls)
        for frame, at in enumerate(tour.recording.frames):
            for box in at.boxes.values():
                sight = np.linspace(tour.poses[frame, :2], box.centre_m[:2], 60)
                assert not shapely.contains_xy(walls, *sight.T).any()


def test_no_two_vehicles_of_a_ride_ever_touch():
    for tour in rides():
        vehicles = [
            place[:, :2]
            for place, one in zip(tour.places, tour.travellers, strict=True)
            if one.look.kind == "vehicle"
        ]
        for first, second in combinations([tour.poses[:, :2], *vehicles], 2):
            assert np.hypot(*(first - second).T).min() > 2.0


def test_rides_turn_as_much_to_either_side():
    turns = []
    for k in range(40):
        tour = tour_of(RIDING, 1, k // PER_TOWN, k, 0)
        if tour is not None:
            turns.append((tour.poses[-1, 3] - tour.poses[0, 3] + 180) % 360 - 180)
    assert 0.3 < np.mean(np.array(turns) > 0) < 0.7
    assert np.mean(np.abs(turns) > 40) > 0.35


def test_path_and_turn_of_a_ride_follow_from_its_recording_by_hand():
    for k in RIDES:
        drawn = question_of("length", k)
        text, options = drawn.question.text, drawn.question.options
        right = float(options[drawn.question.right].rstrip("m"))
        start_s, end_s = drawn.question.window_s
        frames = [frame for frame in drawn.tour.recording.frames if start_s <= frame.time_s <= end_s]
        name = next((n for n, words in drawn.tour.recording.objects.items() if f"of {words}?" in text), None)
        points = [f.boxes[name].centre_m if name else f.camera.position_m for f in frames]
        straight = math.dist(points[0], points[-1])
        summed = sum(math.dist(a, b) for a, b in pairwise(points))
        assert right == pytest.approx(straight if "displacement" in text else summed, abs=0.006)
        turned = question_of("turn", k)
        headings = [
            math.atan2(f.camera.rotation[1][0], f.camera.rotation[0][0]) for f in turned.tour.recording.frames
        ]
        steps = np.angle(np.exp(1j * np.diff(headings)))
        told = float(turned.question.options[turned.question.right].rstrip("°"))
        assert told == pytest.approx(math.degrees(steps.sum()), abs=0.51)


def test_poses_follow_from_the_moves_that_the_log_tells():
    """Dead reckoning with complex numbers, from the prompt's text alone."""
    for k in RIDES:
        question = question_of("pose", k).question
        told = json.loads(question.text[question.text.index("{") : question.text.index("}") + 1])
        at, heading = complex(told["tx"], told["ty"]), math.atan2(told["r21"], told["r11"])
        for x, y, turned in re.findall(r"\((\S+), (\S+), \S+\), turned (\S+)°", question.evidence[0]):
            at += complex(float(x), float(y)) * complex(math.cos(heading), math.sin(heading))
            heading += math.radians(float(turned))
        right = json.loads(question.options[question.right])
        assert abs(at - complex(right["tx"], right["ty"])) < 0.5  # the first heading is rounded
        assert abs(complex(right["r11"], right["r21"]) - complex(math.cos(heading), math.sin(heading))) < 0.03


def second_view(flight, frame, place):
    """Which third of the picture a place is in, by spherical angles instead of a projection matrix."""
    x, y, z, heading, pitch = flight.poses[frame]
    east, north = place.xy_m[0] - x, place.xy_m[1] - y
    turn = math.radians(heading)
    level = east * math.sin(turn) + north * math.cos(turn)
    right = east * math.cos(turn) - north * math.sin(turn)
    drop, tilt = math.atan2(z, level), -math.radians(pitch)
    slant = math.hypot(level, z)
    depth = slant * math.cos(drop - tilt)
    below = slant * math.sin(drop - tilt)
    half = math.tan(math.radians(35))
    if depth <= 0 or abs(right / depth) > half or abs(below / depth) > half * 9 / 16:
        return 0
    return 1 + int(3 * (right / depth / half + 1) / 2)


def test_goals_quarters_and_aims_are_right_by_angles():
    sides = ("not in", "left third", "middle third", "right third")
    for k in FLIGHTS:
        drawn = question_of("goal", k)
        name = drawn.question.text.split("looks for ")[1].split(". Is")[0]
        frame = int(drawn.question.text.split("picture at ")[1].split(" s,")[0])
        place = next(p for p in drawn.tour.world.scene.places.values() if p.name == name)
        assert sides[second_view(drawn.tour, frame, place)] in drawn.question.options[drawn.question.right]
        drawn = question_of("aim", k)
        name = drawn.question.text.split("above ")[1].split(". What")[0]
        place = next(p for p in drawn.tour.world.scene.places.values() if p.name == name)
        x, y, _, heading, _ = drawn.tour.poses[-1]
        goal_m, ahead = (
            complex(place.xy_m[0] - x, place.xy_m[1] - y),
            1j * np.exp(-1j * math.radians(heading)),
        )
        turn = math.degrees(np.angle(goal_m / ahead))
        assert drawn.question.options[drawn.question.right] == aim_in_words(turn, abs(goal_m))


def test_what_a_flight_does_can_be_read_off_its_poses():
    for k in FLIGHTS:
        flight = tour_of(FLYING, SEED, k // PER_TOWN, k, 0)
        assert flight.poses[:, 2].min() >= LOWEST_M - 1e-6
        assert flight.poses[:, 4].max() <= 0
        for number, each in enumerate(flight.manoeuvres):
            start, end = flight.marks_s[number : number + 2]
            assert SECONDS[0] <= end - start <= SECONDS[1]
            first, last = flight.poses[start], flight.poses[end]
            changes = {
                "forward": math.dist(first[:2], last[:2]),
                "climb": last[2] - first[2],
                "turn": first[3] - last[3],
                "tilt": last[4] - first[4],
            }
            for quantity, change in changes.items():
                amount = each.kind.sign * each.amount if quantity == each.kind.quantity else 0.0
                assert change == pytest.approx(amount, abs=1e-6)
        caption = question_of("caption", k)
        words = caption.question.options[caption.question.right]
        assert words == in_words(caption.tour.manoeuvres)


def test_every_option_of_a_caption_could_have_been_drawn():
    quantities = {
        "flies": "forward",
        "turns": "turn",
        "climbs": "climb",
        "descends": "climb",
        "tilts": "tilt",
    }
    for k in range(40):
        for option in question_of("caption", k).question.options:
            steps = [re.split(r" (?=\d)", words) for words in option.split(", then ")]
            kinds = [does.replace(" up", "").replace(" down", "") for does, _ in steps]
            assert all(before != after for before, after in pairwise(kinds))
            for does, amount in steps:
                low, high = AMOUNTS[quantities[does.split()[0]]]
                assert round(SECONDS[0] * low) <= int(re.match(r"\d+", amount)[0]) <= round(SECONDS[1] * high)


def test_rides_and_flights_of_a_town_are_kin():
    clusters = {FamilyNumber(task, task.scenes[0], SEED, 9).ref().cluster for task in MOTION_TASKS}
    assert len(clusters) == 1
    assert question_of("size", 9).tour.world is question_of("next", 9).tour.world


def test_letters_and_the_words_of_options_are_right_as_often():
    for short, count in (("side", 4), ("next", 6), ("nearer", 3), ("longer", 3), ("mark", 4), ("goal", 4)):
        letters, words = Counter(), Counter()
        for k in range(DRAWN):
            question = question_of(short, k).question
            letters[question.right] += 1
            words[question.options[question.right]] += 1
        for counts, options in ((letters, len(question.options)), (words, count)):
            assert len(counts) == options
            deviation = math.sqrt(DRAWN * (1 / options) * (1 - 1 / options))
            assert all(abs(hits - DRAWN / options) < 4 * deviation for hits in counts.values())


def test_rules_about_numbers_are_at_chance(tmp_path):
    samples = worlds_motion.open(
        data=None,
        select=Select(
            limit=72, seed=2, tasks=["Pose Estimation", "Ego-Centric Orientation", "Trajectory Captioning"]
        ),
        protocol="guarded",
        media=MediaStore(tmp_path),
    )
    built = [samples.get(ref.sample_id) for ref in samples.refs]
    hits = Counter()
    tried = Counter()
    for tried_guess in try_shortcuts({"guarded": built}):
        if tried_guess.applies and not tried_guess.shortcut.startswith("short way"):  # which look at the log
            hits[tried_guess.shortcut] += tried_guess.value
            tried[tried_guess.shortcut] += 1
    assert tried["most central"] > 30
    for rule, count in tried.items():
        assert abs(hits[rule] / count - 0.2) < 4.5 * math.sqrt(0.16 / count), rule


def test_a_step_is_asked_in_the_middle_of_a_part_that_shows_both_neighbours():
    for k in range(24):
        drawn = question_of("step", k)
        shown, words = drawn.tour, drawn.question.options[drawn.question.right]
        assert re.fullmatch(r"flying1-5-\d{5}(-\d+)?-[0-9a-f]{8}", shown.id)
        assert shown.times_s == tuple(range(9))
        number = int(words.split(":")[0].removeprefix("step ")) - 1
        start_s = round(shown.clock_s)
        begins_s, ends_s = shown.marks_s[number : number + 2]
        assert start_s < begins_s < start_s + 4 < ends_s < start_s + 8
        assert sorted(drawn.question.options) == [
            f"step {index + 1}: {shown.manoeuvres[index].words}" for index in range(1, 5)
        ]
        assert len({(a.choice, b.choice) for a, b in pairwise(shown.manoeuvres)}) == 5


def test_steps_at_their_usual_pace_are_counted_and_hit_no_more_than_chance():
    route = "step 1: flies forward 30 m; step 2: turns left 30°; step 3: climbs 7 m."
    for moment_s, step in ((2, 1), (4, 2), (5, 3), (99, 3)):
        assert step_at_usual_pace(f"{route} Which, {moment_s} s after the clip's start?") == step
    assert step_at_usual_pace("Where does it end?") is None
    hits = 0
    for k in range(80):
        question = question_of("step", k).question
        step = step_at_usual_pace(question.text)
        hits += question.options[question.right].startswith(f"step {step}:")
    assert abs(hits / 80 - 0.25) < 4.5 * math.sqrt(0.1875 / 80)


def test_sizes_and_paces_of_options_lie_within_what_a_town_has():
    for k in range(24):
        question = question_of("size", k).question
        side = re.search(r"the (length|width|height) of the \w+ (\w+)\?", question.text)
        if side:
            low_m, high_m = SIZES[side[2]][("length", "width", "height").index(side[1])]
            assert all(low_m <= float(words.rstrip("m")) <= high_m for words in question.options)
    for k in range(6):
        question = question_of("length", k).question
        seconds = question.window_s[1] - question.window_s[0]
        for words in question.options:
            assert PACES_MPS[0] - 0.01 <= float(words.rstrip("m")) / seconds <= PACES_MPS[1] + 0.01


def test_wrong_paths_are_as_long_as_paths_in_a_town_and_their_legs_may_be_shorter():
    shortest_mps = []
    for k in range(8):
        question = question_of("path", k).question
        seconds = question.window_s[1] - question.window_s[0]
        for index, words in enumerate(question.options):
            legs_m = [float(length) for length in re.findall(r"move forward ([\d.]+)m", words)]
            if index != question.right:
                assert PACES_MPS[0] - 0.02 <= sum(legs_m) / seconds <= PACES_MPS[1] + 0.02
                shortest_mps.append(min(legs_m) / seconds)
    assert min(shortest_mps) < PACES_MPS[0]


@given(seed=st.integers(0, 10**6), place=st.floats(-50, 50))
def test_all_wrong_numbers_differ_from_each_other_as_from_the_truth(seed, place):
    grain = LENGTHS["outdoor"]
    numbers = sorted([round(place, 2), *wrong_numbers(np.random.default_rng(seed), place, grain)])
    gaps = np.diff(numbers)
    assert gaps.min() >= grain.low - 1e-6
    assert numbers[-1] - numbers[0] <= grain.high + 1e-6


def test_the_right_option_is_any_link_of_the_chain_as_often():
    rng = np.random.default_rng(4)
    central = 0
    for _ in range(1500):
        points = np.array(
            [
                (0.0, 0.0),
                *wrong_options(rng, (0.0, 0.0), lambda r, p: tuple(p + r.normal(size=2)), lambda _: True),
            ]
        )
        central += int(np.abs(points[:, None] - points[None]).sum(axis=(1, 2)).argmin() == 0)
    assert abs(central / 1500 - 0.2) < 4.5 * math.sqrt(0.16 / 1500)


def test_an_id_says_all_that_determines_a_question(tmp_path):
    samples = worlds_motion.open(
        data=None, select=Select(limit=17, seed=9), protocol="guarded", media=MediaStore(tmp_path)
    )
    ids = [ref.sample_id for ref in samples.refs]
    longer = worlds_motion.open(
        data=None, select=Select(limit=40, seed=9), protocol="guarded", media=MediaStore(tmp_path)
    )
    assert [ref.sample_id for ref in longer.refs][:17] == ids
    assert len({ref.cell for ref in samples.refs}) == 17
    number = family_number_of(ids[3], MOTION_TASKS)
    draw_motion.cache_clear()
    tour_of.cache_clear()
    first = draw_motion(number).question
    draw_motion.cache_clear()
    tour_of.cache_clear()
    assert draw_motion(number).question == first
    with pytest.raises(NotFound, match="size2-riding-7-00012"):
        samples.get("size2-outdoor-7-00000")
    with pytest.raises(NotFound):
        samples.get("size2-riding-8-00000")


QUESTIONS = """
from gnomon.core.ids import stable_hash
from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.motion.sample_making import MOTION_TASKS, draw_motion
for task in MOTION_TASKS:
    for k in range(8 if task.short in ("length", "speed") else 2):
        question = draw_motion(FamilyNumber(task, task.scenes[0], 5, k)).question
        print(task.short, k, stable_hash(question.evidence, question.text, question.options, question.right))
"""


def test_processes_with_other_hash_seeds_draw_the_same_questions(capsys):
    elsewhere = subprocess.run(
        [sys.executable, "-c", QUESTIONS],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    ).stdout
    exec(QUESTIONS, {})
    assert capsys.readouterr().out == elsewhere
    assert len(elsewhere.splitlines()) == 2 * (len(MOTION_TASKS) - 2) + 2 * 8


def test_frames_are_shown_where_they_are_asked_for_and_only_then(tmp_path):
    media = MediaStore(tmp_path)
    select = Select(limit=1, seed=9, frames=2, tasks=["Sequence Recall"])
    samples = worlds_motion.open(data=None, select=select, protocol="guarded", media=media)
    sample = samples.get(samples.refs[0].sample_id)
    frames = [
        part.content for part in sample.parts if part.shown == "media" and not isinstance(part.content, str)
    ]
    assert len(frames) == 2
    assert frames[0].width == 400
    assert sample.footage.facts().frames == len(
        draw_motion(family_number_of(sample.ref.sample_id, MOTION_TASKS)).tour.times_s
    )
    plain = worlds_motion.open(
        data=None, select=Select(limit=1, seed=9, tasks=["Sequence Recall"]), protocol="guarded", media=media
    )
    assert all(part.shown != "media" for part in plain.get(plain.refs[0].sample_id).parts)


def test_written_tours_run_as_the_published_benchmarks_and_equal_seeds_write_equal_bytes(
    tmp_path, monkeypatch
):
    drawn = TourClip.pictures

    def held(clip):  # to draw every picture takes five seconds
        for frame in range(len(clip.times_s)):
            if frame % 20 == 0:
                (picture,) = drawn(clip, [frame])
            yield picture

    monkeypatch.setattr(TourClip, "pictures", held)
    counts = write_tours(tmp_path / "a", seed=3, tours=1, has_clips=True)
    assert len(counts) == 13
    for benchmark, folder in ((sti_bench, "riding"), (urbanvideo_bench, "flying")):
        samples = benchmark.open(
            data=tmp_path / "a" / folder,
            select=Select(),
            protocol="guarded",
            media=MediaStore(tmp_path / "m"),
        )
        assert not samples.faults
        assert not samples.get(samples.refs[0].sample_id).broken
    write_tours(tmp_path / "b", seed=3, tours=1, has_clips=False)
    for file in ("riding/qa.parquet", "flying/MCQ.parquet"):
        first, second = (pq.read_table(tmp_path / name / file).to_pylist() for name in "ab")
        assert first == second
    with pytest.raises(SpecError, match="new or empty"):
        write_tours(tmp_path / "a", seed=3, tours=1, has_clips=False)


def test_numbers_are_read_where_all_options_have_as_many():
    assert numbers_of(["1.5m", "-2m"]).tolist() == [[1.5], [-2.0]]
    assert numbers_of(["left", "right"]) is None
    assert numbers_of(["1", "1 2"]) is None


def test_a_flight_ends_when_its_last_manoeuvre_does():
    flight = tour_of(FLYING, SEED, 7 // PER_TOWN, 7, 0)
    assert in_words(flight.manoeuvres).startswith(f"{flight.manoeuvres[0].words}, then ")
    assert flight.times_s[-1] == flight.marks_s[-1]
