"""Further families of questions on generated worlds as a benchmark plug-in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from gnomon.core.benchmark import (
    Benchmark,
    PromptProtocol,
    SampleSet,
    Varied,
)
from gnomon.core.errors import NotFound
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import DataFault, ImageRef, Part, Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.drawn_later import drawn_later
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.core.scene_marks import way_lines
from gnomon_tools.core.sketch import Sketch
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.families.family import Family, FamilyQuestion
from gnomon_worlds.families.family_numbers import FamilyNumber, FamilyNumbers, family_number_of
from gnomon_worlds.families.features import FEATURES, features_of
from gnomon_worlds.families.sample_making import FAMILIES, draw_question
from gnomon_worlds.family_questions import LetteredQuestions, asked
from gnomon_worlds.sample_making import KEPT_QUESTIONS, map_key, map_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilySamples:
    """The selected samples; each is generated when it is asked for."""

    refs: FamilyNumbers[Family]
    media: MediaStore
    faults: Sequence[DataFault] = ()

    def get(self, sample_id: str) -> Sample:
        """Generate the sample.

        Raises:
            NotFound: the sample is not among the selected ones.
        """
        number = family_number_of(sample_id, FAMILIES)
        if not self.refs.holds(number):
            raise NotFound(f"no sample {sample_id!r} in this selection")
        drawn = draw_question(number)
        picture = drawn_later(self.media, map_key(drawn.world), partial(map_of, drawn.world))
        return Sample(
            ref=number.ref(),
            parts=_parts(drawn.question, picture),
            target={"question": drawn.question},
            inputs=held(drawn.world.scene),
        )


def _parts(question: FamilyQuestion, picture: ImageRef) -> tuple[Part, ...]:
    return (
        Part(content="Map:", shown="map"),
        Part(content=picture, shown="map"),
        *(Part(content=text, shown="camera_data") for text in question.evidence),
        Part(content=asked(question)),
    )


@lru_cache(4 * KEPT_QUESTIONS)
def _features(number: FamilyNumber[Family]) -> Mapping[str, float | str]:
    drawn = draw_question(number)
    level = {"level": number.level} if number.level else {}
    return {**level, **features_of(drawn.world, drawn.question)}


class WorldsFamilies(LetteredQuestions):
    """Families of questions on generated worlds; a cell is a family in one kind of scene."""

    name = "worlds-families"
    version = "1"
    tasks = tuple(family.task for family in FAMILIES)
    scenes: tuple[str, ...] = ("outdoor", "indoor")
    needs_data = False
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_cells"
    provides: tuple[Need, ...] = (Scene,)
    options: frozenset[Varied] = frozenset({"difficulty"})

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,  # noqa: ARG002 (there is one prompt)
        media: MediaStore,
    ) -> SampleSet:
        refs = self.numbers(FAMILIES, data=data, select=select, features=FEATURES, measure=_features)
        return FamilySamples(refs=refs, media=media)

    def features(self, sample: Sample) -> Mapping[str, float | str]:
        """Its level, and what makes the question hard; see gnomon_worlds/families/features.py."""
        return _features(family_number_of(sample.ref.sample_id, FAMILIES))

    def question_view(self, sample: Sample) -> QuestionView:
        question: FamilyQuestion = sample.target["question"]
        scene = sample.scene
        marks = [
            line
            for start, end, label in question.ways
            if scene is not None
            for line in way_lines(scene, (start.xy_m, start.floor), (end.xy_m, end.floor), label)
            if line is not None
        ]
        return replace(super().question_view(sample), truth=Sketch(marks=tuple(marks)))


worlds_families: Benchmark = WorldsFamilies()
