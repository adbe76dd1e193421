"""Draws the camera's way and the question behind a number. Equal numbers give equal questions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from typing import Any

from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon_worlds.difficulty import Difficulty
from gnomon_worlds.families.family import FamilyQuestion
from gnomon_worlds.families.family_numbers import FamilyNumber
from gnomon_worlds.motion import flight_questions
from gnomon_worlds.motion.flying import Flight, fly
from gnomon_worlds.motion.ride_questions import ride_question
from gnomon_worlds.motion.riding import ride
from gnomon_worlds.motion.short_ways import Settled
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.recordings.questions import TASKS
from gnomon_worlds.sample_making import KEPT_QUESTIONS, world_of

VERSION = 1  # of the tours, in their ids: a change that changes them changes it
TOURS = 200  # drawn in search of one that holds the question
LEVEL_TOURS = 20_000  # the same, where short ways are settled: few tours are so straight, or so bent
TOURS_IN_TOWN = 2_000  # after so many a spare town is looked at: some hold no way so bent
RANGED_TOURS = 400  # the same, where features have ranges that may hold none
KEPT = 64  # tours remembered: all tasks of a number ask about one
PER_TOWN = 8  # tours that share a town
TOWN = WorldOptions(movement="simulated", sight="occluded")
RIDING, FLYING = "riding", "flying"
SCENES = (RIDING, FLYING)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnMotion:
    """A question and the tour, or part of a tour, that it is about."""

    tour: Tour
    question: FamilyQuestion


Ask = Callable[[Any, Random, Random, Settled | None], FamilyQuestion | tuple[Flight, FamilyQuestion] | None]
"""The question about a tour, or a part of it with its question; None: the tour holds none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionTask:
    """A kind of question about a camera's way. A change of its questions or truth changes `version`.

    `ask` gets lots that settle what is wanted, the same for every tour that is tried, those by which all else
    is drawn, and what a level settles.
    """

    task: str
    short: str  # in ids
    version: int
    scenes: tuple[str, ...]
    ask: Ask
    has_map: bool = False  # whether its prompts show the town's map
    per_place: int = PER_TOWN

    def place_kind(self, scene: str) -> str:  # noqa: ARG002 (both cameras move through the same towns)
        """What its places are called in clusters."""
        return "tour-town"


def _flight(task: str, short: str, ask: Ask, *, version: int = 1, has_map: bool = False) -> MotionTask:
    return MotionTask(task=task, short=short, version=version, scenes=(FLYING,), ask=ask, has_map=has_map)


_RIDES = (
    ("size", 2), ("side", 1), ("box", 2), ("length", 2), ("speed", 2), ("turn", 1), ("path", 3), ("pose", 1)
)  # fmt: skip
MOTION_TASKS: tuple[MotionTask, ...] = (
    *(
        MotionTask(
            task=task, short=short, version=version, scenes=(RIDING,), ask=partial(ride_question, task)
        )
        for task, (short, version) in zip(TASKS, _RIDES, strict=True)
    ),
    _flight("Trajectory Captioning", "caption", flight_questions.trajectory, version=3),
    _flight("Sequence Recall", "next", flight_questions.sequence),
    _flight("Start/End Position", "ends", flight_questions.ends, version=2),
    _flight("Proximity", "nearer", flight_questions.proximity, has_map=True),
    _flight("Duration", "longer", flight_questions.duration),
    _flight("Landmark Position", "mark", flight_questions.landmark, has_map=True),
    _flight("Goal Detection", "goal", flight_questions.goal, has_map=True),
    _flight("Progress Evaluation", "step", flight_questions.progress, version=2),
    _flight("Action Generation", "aim", flight_questions.action, version=2, has_map=True),
)


@lru_cache(KEPT)
def tour_of(
    camera: str, seed: int, town: int, k: int, spare: int, difficulty: Difficulty | None = None
) -> Tour | None:
    """Tour k of a seed in its town, or a spare one; None where the town has none like it."""
    world = world_of(seed, "outdoor", town, spare // TOURS_IN_TOWN, difficulty, TOWN)
    tag = (difficulty.tag,) if difficulty else ()
    rng = Random(stable_seed("tour", VERSION, camera, seed, *tag, k, spare))
    tour_id = "-".join([f"{camera}{VERSION}", str(seed), *tag, f"{k:05d}", *([str(spare)] if spare else [])])
    return fly(world, rng, tour_id) if camera == FLYING else ride(world, rng, tour_id)


@lru_cache(KEPT_QUESTIONS)
def draw_motion(number: FamilyNumber[MotionTask]) -> DrawnMotion:
    """Draw the question of that number about its tour, or about a spare one where that holds none.

    Raises:
        DataError: none of the tours that are tried holds it, as where the ranges of its features are too
            narrow. It names `select.difficulty` where one was chosen, else `select.tasks`.
    """
    difficulty = number.difficulty
    settled = Settled.of(difficulty, Random(stable_seed("motion level", number.sample_id)))
    tours = LEVEL_TOURS if settled else RANGED_TOURS if difficulty else TOURS
    for spare in range(tours):
        tour = tour_of(number.scene, number.seed, number.place, number.k, spare, difficulty)
        if tour is None:
            continue
        lots = Random(stable_seed("motion question", number.sample_id))
        tries = Random(stable_seed("motion try", number.sample_id, spare)) if difficulty else lots
        asked = number.family.ask(tour, lots, tries, settled)
        part, question = asked if isinstance(asked, tuple) else (tour, asked)
        if question and (difficulty is None or difficulty.admits(question.features)):
            return DrawnMotion(tour=part, question=question)
    remedy = "ask for another difficulty or other tasks" if difficulty else "ask for other tasks"
    message = f"none of {tours} tours holds the question {number.sample_id}; {remedy}"
    raise DataError(message, field="select.difficulty" if difficulty else "select.tasks")
