"""Questions about cameras that move through generated towns as a benchmark plug-in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gnomon.core.benchmark import (
    Benchmark,
    PromptProtocol,
    SampleSet,
    Varied,
)
from gnomon.core.errors import NotFound
from gnomon.core.ids import stable_hash
from gnomon.core.sample import DataFault, Part, Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.drawn_later import drawn_later
from gnomon.media.frame_rules import Uniform, as_asked
from gnomon_tools.core.clip import Box, ClipFrame, Footage, FootageFacts
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.families.family_numbers import FamilyNumber, FamilyNumbers, family_number_of
from gnomon_worlds.family_questions import LetteredQuestions, asked
from gnomon_worlds.motion.features import FEATURES
from gnomon_worlds.motion.sample_making import MOTION_TASKS, SCENES, DrawnMotion, MotionTask, draw_motion
from gnomon_worlds.motion.tour import Tour
from gnomon_worlds.sample_making import map_key, map_of

if TYPE_CHECKING:
    from gnomon_worlds.benchmarks.worlds.clips import WorldFootage

FRAMES = 8  # where a rate is asked for, the count that it replaces
LOOKS = 1  # a change that changes pictures changes it


@dataclass(frozen=True, kw_only=True)
class TourFootage(Footage):
    """A tour's clip for tools that look at it; nothing is drawn before one does."""

    tour: Tour
    media: MediaStore

    @cached_property
    def drawn(self) -> "WorldFootage":
        from gnomon_worlds.benchmarks.worlds.clips import WorldFootage  # late: most jobs show no pictures
        from gnomon_worlds.rendering.tour_clip import TourClip

        return WorldFootage(sample_id=self.tour.id, clips=(TourClip(tour=self.tour),), media=self.media)

    def facts(self) -> FootageFacts:
        return self.drawn.facts()

    def frames_at(
        self, times_s: Sequence[float], *, crop: Box | None = None, max_side_px: int | None = None
    ) -> list[ClipFrame]:
        return self.drawn.frames_at(times_s, crop=crop, max_side_px=max_side_px)


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionSamples:
    """The selected samples; each is generated when it is asked for."""

    refs: FamilyNumbers[MotionTask]
    media: MediaStore
    select: Select = field(default_factory=Select)
    faults: Sequence[DataFault] = ()

    def get(self, sample_id: str) -> Sample:
        """Generate the sample.

        Raises:
            NotFound: the sample is not among the selected ones.
        """
        number = family_number_of(sample_id, MOTION_TASKS)
        if not self.refs.holds(number):
            raise NotFound(f"no sample {sample_id!r} in this selection")
        drawn = draw_motion(number)
        footage = TourFootage(tour=drawn.tour, media=self.media)
        return Sample(
            ref=number.ref(),
            parts=(
                *self._frames(drawn.tour, footage),
                *self._map(drawn, number.family),
                *(Part(content=text, shown="camera_data") for text in drawn.question.evidence),
                Part(content=asked(drawn.question)),
            ),
            target={"question": drawn.question},
            inputs=held(drawn.tour.world.scene, footage),
        )

    def _map(self, drawn: DrawnMotion, task: MotionTask) -> tuple[Part, ...]:
        if not task.has_map:
            return ()
        world = drawn.tour.world
        picture = drawn_later(self.media, map_key(world), partial(map_of, world))
        return (Part(content="Map:", shown="map"), Part(content=picture, shown="map"))

    def _frames(self, tour: Tour, footage: TourFootage) -> tuple[Part, ...]:
        """The frames that `select` asks for, each behind its time. Nothing is drawn yet."""
        if self.select.frames is None and self.select.fps is None:
            return ()
        from gnomon_worlds.benchmarks.worlds.clips import jpeg, video_of

        clip = footage.drawn.clips[0]
        video = video_of(clip)
        rule = as_asked(Uniform, FRAMES, frames=self.select.frames, fps=self.select.fps)
        parts = [Part(content=f"Frames of a clip of {video.seconds:g} s:", shown="media")]
        for index in rule.pick(video):
            key = stable_hash("tour", LOOKS, tour.id, index, size=40)
            picture = drawn_later(self.media, key, partial(_drawn, clip.pictures, index, jpeg))
            parts += [
                Part(content=f"{clip.times_s[index]:g} s", shown="media"),
                Part(content=picture, shown="media"),
            ]
        return tuple(parts)


def _drawn(pictures: Any, index: int, jpeg: Any) -> bytes:
    encoded: bytes = jpeg(next(pictures([index])))
    return encoded


def _features(number: FamilyNumber[MotionTask]) -> Mapping[str, float | str]:
    level = {"level": number.level} if number.level else {}
    return {**level, **draw_motion(number).question.features}


class WorldsMotion(LetteredQuestions):
    """STI-Bench's eight tasks of a riding camera, UrbanVideo-Bench's of a flying one; a cell is a task."""

    name = "worlds-motion"
    version = "1"
    tasks = tuple(task.task for task in MOTION_TASKS)
    scenes: tuple[str, ...] = SCENES
    needs_data = False
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_cells"
    provides: tuple[Need, ...] = (Scene, Footage, None)
    options: frozenset[Varied] = frozenset({"frames", "fps", "difficulty"})

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,  # noqa: ARG002 (there is one prompt)
        media: MediaStore,
    ) -> SampleSet:
        refs = self.numbers(MOTION_TASKS, data=data, select=select, features=FEATURES, measure=_features)
        return MotionSamples(refs=refs, media=media, select=select)

    def features(self, sample: Sample) -> Mapping[str, float | str]:
        """Its level, and what makes the question hard; see gnomon_worlds/motion/features.py."""
        return _features(family_number_of(sample.ref.sample_id, MOTION_TASKS))


worlds_motion: Benchmark = WorldsMotion()
