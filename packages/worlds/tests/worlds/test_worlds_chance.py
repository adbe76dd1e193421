"""Without the scene no rule of thumb finds the right option: the questions can't be answered from text."""

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from gnomon.core.clock import NOON_S, day_span
from gnomon_published.benchmarks.gtr_bench.case import Case, as_displayed, body_of, case_from_json
from gnomon_published.benchmarks.gtr_bench.prompt import guarded_clips
from gnomon_worlds.sample_making import draw
from gnomon_worlds.sample_numbers import CELLS, Number

SEED = 21
PLACES = 8  # of either scene; many questions in few places are quick to draw
QUESTIONS = {
    "GeoLocation": 120,
    "ArrivalTimeInterval": 80,
    "MotionState": 200,
    "CausalReordering": 200,
    "NextSpotForecasting": 120,
    "TrajectoryForecasting": 80,
    "MultiTargetTrajectoryForecasting": 80,
}
SIGMAS = 4.0

Pick = Callable[[Case], int]  # index of the option a rule would take


@cache
def cases(task_id: str) -> tuple[Case, ...]:
    cells = [index for index, (_, task) in enumerate(CELLS) if task == task_id]
    numbers = [
        Number(SEED, 14 * (i // len(cells)) + cells[i % len(cells)]) for i in range(QUESTIONS[task_id])
    ]
    last = numbers[-1].round + 1
    drawn = (draw(number, place=number.round * PLACES // last) for number in numbers)
    return tuple(
        as_displayed(case_from_json(one.record, number.scene), "guarded")
        for number, one in zip(numbers, drawn, strict=True)
    )


def bodies(case: Case) -> list[str]:
    return [body_of(choice) for choice in case.choices]


def spans(case: Case) -> list[tuple[float, float]]:
    return [day_span(body) or (0.0, 0.0) for body in bodies(case)]


def least(values: list[float]) -> int:
    return values.index(min(values))


def middle_of_gap(case: Case) -> float:
    return (case.clips[0].end_s + case.clips[1].start_s) / 2 + NOON_S


def number(camera: str) -> int:
    return int(camera[1:])


def agreement(case: Case) -> list[float]:
    """How many words at the same position each option shares with the others."""
    words = [re.findall(r"[\w.]+", body) for body in bodies(case)]
    return [
        float(sum(a == b for other in words for a, b in zip(mine, other, strict=False))) for mine in words
    ]


def shown_order(case: Case, key: Callable[..., float]) -> int:
    order = " → ".join(clip.camera_id for clip in sorted(guarded_clips(case), key=key))
    return bodies(case).index(order) if order in bodies(case) else 0


def lengths(case: Case) -> list[list[float]]:
    return [[float(m) for m in re.findall(r"([\d.]+) meters", body)] for body in bodies(case)]


def approach(case: Case) -> float:
    """Whether the target of the first clip comes nearer (its box grows) or goes away."""
    return case.clips[0].bboxes[-1][3] - case.clips[0].bboxes[0][3]


ANY: dict[str, Pick] = {
    "first": lambda case: 0,
    "last": lambda case: len(case.choices) - 1,
    "alphabetically first": lambda case: bodies(case).index(min(bodies(case))),
    "alphabetically last": lambda case: bodies(case).index(max(bodies(case))),
}
CAMERAS: dict[str, Pick] = {
    "most asked for": lambda case: least([-float(asked(case.task_id)[body]) for body in bodies(case)]),
    "most often in clips": lambda case: least([-float(clipped(case.task_id)[body]) for body in bodies(case)]),
    "nearest number": lambda case: least(
        [float(abs(number(body) - number(case.clips[-1].camera_id))) for body in bodies(case)]
    ),
}
RULES: dict[str, dict[str, Pick]] = {
    "GeoLocation": ANY | CAMERAS,
    "NextSpotForecasting": ANY | CAMERAS,
    "TrajectoryForecasting": ANY | CAMERAS,
    "MultiTargetTrajectoryForecasting": ANY | CAMERAS,
    "ArrivalTimeInterval": ANY
    | {
        "shortest": lambda case: least([end - start for start, end in spans(case)]),
        "longest": lambda case: least([start - end for start, end in spans(case)]),
        "second": lambda case: spans(case).index(sorted(spans(case))[1]),
        "third": lambda case: spans(case).index(sorted(spans(case))[2]),
        "mid-gap": lambda case: least([abs(sum(span) / 2 - middle_of_gap(case)) for span in spans(case)]),
        "outlier": lambda case: least(
            [-min(abs(a - b) for b, _ in spans(case) if b != a) for a, _ in spans(case)]
        ),
        "stay like the first clip": lambda case: least(
            [abs((b - a) - (case.clips[0].end_s - case.clips[0].start_s)) for a, b in spans(case)]
        ),
        "stay like both clips": lambda case: least(
            [abs(2 * (b - a) - sum(clip.end_s - clip.start_s for clip in case.clips)) for a, b in spans(case)]
        ),
    },
    "MotionState": ANY
    | {
        "most agreeing": lambda case: least([-value for value in agreement(case)]),
        "least agreeing": lambda case: least(agreement(case)),
        "long way first": lambda case: least([-ways[0] for ways in lengths(case)]),
        "short way first": lambda case: least([ways[0] for ways in lengths(case)]),
        "north first": lambda case: least([float("meters north" not in body) for body in bodies(case)]),
        "approaching is southwards": lambda case: least(
            [
                float((approach(case) > 0) != bool(re.search(r"meters (south|west)", body)))
                for body in bodies(case)
            ]
        ),
    },
    "CausalReordering": ANY
    | {
        "most agreeing": lambda case: least([-value for value in agreement(case)]),
        "least agreeing": lambda case: least(agreement(case)),
        "as shown": lambda case: shown_order(case, lambda clip: 0.0),
        "short stays first": lambda case: shown_order(case, lambda clip: clip.end_s - clip.start_s),
        "long stays first": lambda case: shown_order(case, lambda clip: clip.start_s - clip.end_s),
        "small boxes first": lambda case: shown_order(case, lambda clip: clip.bboxes[0][3]),
        "tall endings first": lambda case: shown_order(case, lambda clip: -clip.bboxes[-1][3]),
        "by number": lambda case: shown_order(case, lambda clip: number(clip.camera_id)),
    },
}


@cache
def asked(task_id: str) -> Counter[str]:
    return Counter(body for case in cases(task_id) for body in bodies(case))


@cache
def clipped(task_id: str) -> Counter[str]:
    return Counter(clip.camera_id for case in cases(task_id) for clip in case.clips)


@pytest.mark.parametrize("task_id", RULES)
def test_no_rule_of_thumb_beats_or_misses_chance(task_id: str) -> None:
    questions = cases(task_id)
    spread = SIGMAS * math.sqrt(0.25 * 0.75 / len(questions))
    for name, pick in RULES[task_id].items():
        hits = sum(case.choices[pick(case)] == case.gold[0] for case in questions)
        assert hits / len(questions) == pytest.approx(0.25, abs=spread), (task_id, name)


def test_right_letters_are_spread_evenly() -> None:
    letters = Counter(case.gold[0][0] for task_id in RULES for case in cases(task_id))
    total = sum(letters.values())
    assert letters.keys() == set("ABCD")
    for count in letters.values():
        assert count / total == pytest.approx(0.25, abs=SIGMAS * math.sqrt(0.25 * 0.75 / total))


def test_option_cameras_never_stand_in_the_clips_of_a_forecast() -> None:
    for task_id in ("GeoLocation", "NextSpotForecasting", "TrajectoryForecasting"):
        for case in cases(task_id):
            assert not {clip.camera_id for clip in case.clips} & set(bodies(case))
