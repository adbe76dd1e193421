import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.clock import day_clock
from gnomon_agents.models.reference.guessing import Option
from gnomon_published.solver.clips.answer import Answer, guess
from gnomon_published.solver.clips.interpolation import Gap, misfit, read_motion
from gnomon_published.solver.clips.question import Kind, read_question, span_s

CLIP = """Clip 1: camera c088, target 1, 12:00:43.073-12:00:56.273
  12:00:43.073 box x=920.0 y=63.0 w=262.0 h=105.0
  12:00:56.273 box x=990.0 y=-3.5 w=627.0 h=473.0"""
TIMELESS = """Clip 1: camera c088, target 1, lasting 13.200 s
  +0.000 s box x=920.0 y=63.0 w=262.0 h=105.0
  +13.200 s box x=990.0 y=583.0 w=627.0 h=473.0"""


def question(asked, options=("c1", "c2"), *parts):
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCDEF", options, strict=False))
    texts = [*parts, f"Question: {asked}\nOptions:\n{listed}\nAnswer with one JSON object."]
    return read_question([{"role": "user", "content": [{"type": "text", "text": text} for text in texts]}])


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (
            "infer which camera the target passed through between the start point (c1, 12:00:43-12:00:56).",
            Kind.PASSED_CAMERA,
        ),
        (
            "Knowing the target passed through camera c08, infer the time period when the target appears.",
            Kind.PASSING_TIME,
        ),
        ("Infer the target's motion state during the intermediate time period.", Kind.MOTION),
        ("Please infer the correct order in which the target passed through these cameras.", Kind.ORDER),
        (
            "Which camera from the following list will most likely capture the target next?",
            Kind.NEXT_CAMERA,
        ),
        ("Predict the next two cameras that the target will likely pass through.", Kind.NEXT_TWO),
        ("Predict where these two targets will most likely meet.", Kind.MEETING),
        ("How many windows has the house?", Kind.OTHER),
    ],
)
def test_the_wording_tells_what_is_asked(asked, kind):
    assert question(asked).kind is kind


def test_clips_boxes_and_times_are_read():
    clip = question("…", ("c1",), "Map: not available.", CLIP).clips[0]
    assert (clip.camera, clip.target) == ("c088", "1")
    assert clip.start_s == pytest.approx(12 * 3600 + 43.073)
    assert clip.lasting_s == pytest.approx(13.2)
    assert clip.boxes == ((920.0, 63.0, 262.0, 105.0), (990.0, -3.5, 627.0, 473.0))
    assert clip.times_s == pytest.approx((43243.073, 43256.273))


def test_a_clip_without_a_clock_has_times_from_its_own_start():
    clip = question("…", ("c1",), TIMELESS).clips[0]
    assert clip.start_s is None
    assert clip.end_s is None
    assert clip.lasting_s == 13.2
    assert clip.times_s == (0.0, 13.2)


def test_the_named_cameras_tell_start_from_end_whatever_the_order_of_the_clips():
    second = CLIP.replace("Clip 1", "Clip 2").replace("c088", "c07")
    asked = "(c07, 12:00:43.073-12:00:56.273) and (c088, 12:00:43.073-12:00:56.273)"
    ends = question(asked, ("c1",), CLIP, second).ends
    assert [clip.camera for clip in ends] == ["c07", "c088"]


def test_options_are_read_without_their_letters():
    assert question("…", ("c1 → c2", "12:00:01.000-12:00:02.500")).options == (
        Option(letter="A", text="c1 → c2"),
        Option(letter="B", text="12:00:01.000-12:00:02.500"),
    )


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    read = read_question([{"role": "user", "content": text}])
    assert guess(read, "").text()


@given(st.floats(0, 86399.999))
def test_clock_and_span_are_inverse_to_a_millisecond(seconds):
    start_s, end_s = span_s(f"{day_clock(seconds)}-{day_clock(seconds)}")
    assert start_s == end_s
    assert abs(start_s - seconds) % 86400 <= 0.000501 or start_s == 0.0


def test_a_guess_answers_in_the_form_that_is_asked_for():
    one = json.loads(
        guess(question("capture the target next?", ("c1", "c2"), CLIP), "").text().split("\n")[-1]
    )
    two = json.loads(guess(question("the next two cameras", ("c1", "c2"), CLIP), "").text().split("\n")[-1])
    assert one["answer"] in "AB"
    assert len(one["time_duration"]) == 1
    assert sorted(two["answer"]) == ["A", "B"]
    assert len(two["time_duration"]) == 2


def test_guesses_spread_over_the_letters():
    letters = [
        guess(question("which camera the target passed", ("c1", "c2", "c3", "c4"), f"{n}"), "")
        .options[0]
        .letter
        for n in range(400)
    ]
    assert all(60 < letters.count(letter) < 140 for letter in "ABCD")  # 100 expected, deviation 9


# Motion


@pytest.mark.parametrize(
    ("text", "displacement_m", "length_m", "duration_s"),
    [
        ("The target moved west at 10 m/s for 20 meters.", (-20, 0), 20, 2),
        (
            "The target moves at 8.9 m/s on average: 118.2 meters east, then 75.0 meters north.",
            (118.2, 75),
            193.2,
            None,
        ),
        (
            "It moved south for 6 meters at 2 m/s, then continued for another 4 meters at 1 m/s.",
            (0, -10),
            10,
            7,
        ),
        ("It moved east at 1.0–3.0 m/s for 8 metres.", (8, 0), 8, 4),
        ("It moved northward for 10.5 meters with growing speed.", (0, 10.5), 10.5, None),
    ],
)
def test_told_motion_is_read(text, displacement_m, length_m, duration_s):
    told = read_motion(text)
    assert told.displacement_m == pytest.approx(displacement_m, abs=1e-9)
    assert told.length_m == pytest.approx(length_m)
    assert told.duration_s == (duration_s if duration_s is None else pytest.approx(duration_s))


def test_text_without_a_direction_tells_no_motion():
    assert read_motion("The target stood still for 3 seconds.") is None


def test_the_true_motion_fits_better_than_its_mirror_image():
    gap = Gap(bearing_deg=90, straight_m=100, length_m=100, duration_s=10, first_deg=90, last_deg=None)
    true, false = (read_motion(f"It moved {way} at 10 m/s for 100 meters.") for way in ("east", "west"))
    assert misfit(true, gap) == pytest.approx(0, abs=1e-9)
    assert misfit(false, gap) > 2


def test_a_length_known_to_a_metre_counts_more_than_directions_in_eighths_of_a_turn():
    gap = Gap(bearing_deg=80, straight_m=100, length_m=120, duration_s=10, first_deg=80, last_deg=None)
    as_long, as_straight = (
        read_motion("It went north 60 m, then east 60 m."),
        read_motion("It went east 100 m."),
    )
    assert misfit(as_long, gap) > misfit(as_straight, gap)
    exactly = replace(gap, is_exact=True)
    assert misfit(as_long, exactly) < misfit(as_straight, exactly)


def test_an_answer_names_letters_and_times():
    options = (Option(letter="C", text="c09"), Option(letter="A", text="c01"))
    text = Answer(options=options, why="So.", intervals=((43200.0, 43201.5), (43300.0, 43301.0))).text()
    assert json.loads(text.split("\n")[-1]) == {
        "answer": ["C", "A"],
        "time_duration": ["12:00:00.000-12:00:01.500", "12:01:40.000-12:01:41.000"],
    }
