"""Generated worlds as a benchmark plug-in."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Varied
from gnomon.core.decoding import Decoding
from gnomon.core.errors import NotFound, SpecError
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import DataFault, Sample, Shown, Transform
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.drawn_later import drawn_later
from gnomon_published.benchmarks.gtr_bench.benchmark import GtrBench
from gnomon_published.benchmarks.gtr_bench.case import TASKS, Case, case_from_json
from gnomon_published.benchmarks.gtr_bench.prompt import parts_of
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.difficulty import LEARNED
from gnomon_worlds.features import features_of
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.oracle_steps import steps_of
from gnomon_worlds.sample_making import KEPT_QUESTIONS, Drawn, check_ranges, draw, map_key, map_of
from gnomon_worlds.sample_numbers import CELLS, Number, Numbers, difficulties_of, number_of, offered

if TYPE_CHECKING:
    from gnomon_worlds.benchmarks.worlds.clips import ShownClips

SAMPLES = 420  # where `select.limit` is not given: 30 per cell, as GTR-Bench has


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSamples:
    """The selected samples; each is generated when it is asked for."""

    refs: Numbers
    protocol: PromptProtocol
    media: MediaStore
    select: Select = field(default_factory=Select)
    faults: Sequence[DataFault] = ()

    def get(self, sample_id: str) -> Sample:
        """Generate the sample.

        Raises:
            NotFound: the sample is not among the selected ones.
        """
        number = number_of(sample_id)
        ref = number.ref()
        if ref not in self.refs:
            raise NotFound(f"no sample {sample_id!r} in this selection")
        drawn = draw(number)
        case = case_from_json(drawn.record, number.scene)
        picture = drawn_later(self.media, map_key(drawn.world), partial(map_of, drawn.world))
        clips = self._clips(drawn, case, number.seed)
        frames, films = (clips.frames, clips.films) if clips else (None, None)
        target = {"case": case, "protocol": self.protocol, "draws_map": True}
        return Sample(
            ref=ref,
            parts=parts_of(case, self.protocol, picture, frames, films),
            target=target if films is None else {**target, "films": films},
            inputs=held(drawn.world.scene, clips.footage if clips else None),
            join="texts_first" if self.protocol == "official" else "in_order",
        )

    def _clips(self, drawn: Drawn, case: Case, seed: int) -> "ShownClips | None":
        if not has_clips(self.select):
            return None
        from gnomon_worlds.benchmarks.worlds.clips import shown_clips  # late: most jobs show no pictures

        return shown_clips(
            drawn, case, seed=seed, select=self.select, protocol=self.protocol, media=self.media
        )


@lru_cache(4 * KEPT_QUESTIONS)
def _features(number: Number) -> Mapping[str, float | str]:
    drawn = draw(number)
    level = {"level": number.level} if number.level else {}
    return {**level, **features_of(drawn.world, drawn.question)}


def has_clips(select: Select) -> bool:
    """Whether questions show clips as pictures."""
    return select.frames is not None or select.fps is not None


class Worlds(GtrBench):
    """The 14 cells of GTR-Bench, generated; prompts and scoring are those of GTR-Bench."""

    name = "worlds"
    version = "1"
    needs_data = False
    options: frozenset[Varied] = frozenset({"frames", "fps", "difficulty", "world"})

    def __init__(self, *, provides: tuple[Need, ...] = (Scene,)) -> None:
        self.provides = provides

    def selecting(self, select: Select) -> Benchmark:
        return Worlds(provides=(Scene, Footage)) if has_clips(select) else self

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is not None:
            raise SpecError("worlds are generated and read no data; leave it out", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        cells = tuple(
            index
            for index, (scene, task) in enumerate(CELLS)
            if scene in (select.scenes or self.scenes) and task in (select.tasks or self.tasks)
        )
        options = None if select.world is None else WorldOptions.of(select.world)
        difficulties = difficulties_of(select.difficulty, options)
        asked = {cell for each in difficulties for cell in offered(cells, each, options)}
        allowed = ", ".join(" ".join(CELLS[cell]) for cell in offered(range(len(CELLS)), difficulties[-1]))
        absent = {*(select.tasks or ())} - {CELLS[cell][1] for cell in asked}
        if absent:
            names = ", ".join(sorted(absent))
            message = (
                f"no hard questions of {names}: boxes and cameras alone tell too much; allowed: {allowed}"
            )
            raise SpecError(message, field="select.tasks")
        if not asked:
            raise SpecError(f"no hard questions there; allowed: {allowed}", field="select.scenes")
        limit = SAMPLES if select.limit is None else select.limit
        refs = Numbers(select.seed, cells, limit, difficulties, options)
        check_ranges([refs.number(index) for index in range(min(limit, len(cells)))])
        return WorldSamples(refs=refs, protocol=protocol, media=media, select=select)

    def oracle_steps(self, sample: Sample) -> str:
        """True measurements on the way to the answer; see packages/worlds/gnomon_worlds/oracle_steps.py."""
        drawn = draw(number_of(sample.ref.sample_id))
        return steps_of(drawn.world, drawn.question.clip_sightings)

    def features(self, sample: Sample) -> Mapping[str, float | str]:
        """Its level, and what makes the question hard; see packages/worlds/gnomon_worlds/features.py."""
        return _features(number_of(sample.ref.sample_id))

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        number = number_of(sample.ref.sample_id)
        learned = LEARNED.get(number.level or "", {}).get(TASKS[number.task_id].short)
        if learned is None or number.options:
            return super().heuristic_scores(sample)
        return {**super().heuristic_scores(sample), "learner without the map, elsewhere": learned}

    def question_view(self, sample: Sample) -> QuestionView:
        from gnomon_worlds.benchmarks.worlds.question_view import question_view

        return question_view(sample)

    def transformed(
        self, sample: Sample, transform: Transform, *, seed: int, show: Collection[Shown], media: MediaStore
    ) -> Sample:
        from gnomon_published.benchmarks.gtr_bench.transforms import transformed

        return transformed(sample, transform, seed=seed, show=show, media=media)

    def decoding(self, protocol: str) -> Mapping[str, Decoding]:  # noqa: ARG002 (nothing was published)
        return {}


worlds: Benchmark = Worlds()
