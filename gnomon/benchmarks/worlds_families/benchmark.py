"""Further families of questions on generated worlds as a benchmark plug-in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from gnomon.benchmarks._family_questions import LetteredQuestions, asked
from gnomon.core.benchmark import (
    Benchmark,
    PromptProtocol,
    SampleSet,
    Varied,
)
from gnomon.core.errors import NotFound, SpecError
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import DataFault, ImageRef, Part, Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.drawn_later import drawn_later
from gnomon.worlds.difficulty import Difficulty
from gnomon.worlds.drawing import KEPT_QUESTIONS, map_key, map_of
from gnomon.worlds.families.drawing import FAMILIES, draw_question
from gnomon.worlds.families.family import Family, FamilyQuestion
from gnomon.worlds.families.family_numbers import FamilyNumber, FamilyNumbers, family_number_of
from gnomon.worlds.families.features import FEATURES, features_of
from tools.core.scene_marks import way_lines
from tools.core.sketch import Sketch
from tools.core.tool import Need

PER_CELL = 30  # where `select.limit` is not given, as worlds have


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
            scene=drawn.world.scene,
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
    variants: tuple[str, ...] = ()
    needs_data = False
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_cells"
    provides: tuple[Need, ...] = ("scene", "nothing")
    options: frozenset[Varied] = frozenset({"difficulty"})

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,  # noqa: ARG002 (there is one prompt)
        media: MediaStore,
    ) -> SampleSet:
        if data is not None:
            raise SpecError("worlds are generated and read no data; leave it out", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        cells = tuple(
            (family, scene)
            for family in FAMILIES
            for scene in family.scenes
            if family.task in (select.tasks or self.tasks) and scene in (select.scenes or self.scenes)
        )
        limit = PER_CELL * len(cells) if select.limit is None else select.limit
        difficulties = Difficulty.in_turn(select.difficulty, features=FEATURES)
        refs = FamilyNumbers(select.seed, cells, limit, difficulties)
        if any(difficulty and difficulty.ranges for difficulty in difficulties):
            for index in range(min(limit, len(cells))):
                draw_question(refs.number(index))  # a cell without such questions is refused before any run
        return FamilySamples(refs=refs, media=media)

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        """What rules of thumb score; they look at straight lines, never at ways."""
        question: FamilyQuestion = sample.target["question"]
        return {rule: (question.right in left) / len(left) for rule, left in question.rules.items() if left}

    def features(self, sample: Sample) -> Mapping[str, float | str]:
        """Its level, and what makes the question hard; see gnomon/worlds/families/features.py."""
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
