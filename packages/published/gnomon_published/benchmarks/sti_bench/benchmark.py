"""STI-Bench as a benchmark plug-in."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import (
    Benchmark,
    PromptProtocol,
    QuestionFile,
    SampleSet,
    Scoring,
    Varied,
    reject_variant,
)
from gnomon.core.decoding import EVERY_TASK, Decoding
from gnomon.core.errors import DataError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import Sample, Shown, Transform
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_samples import draw_samples, question_of
from gnomon.media.clip_transforms import answer_in_original, permuted
from gnomon.media.clip_views import clip_question_view, clip_verdict
from gnomon_published.benchmarks.sti_bench.loader import (
    LETTERS,
    SCENES,
    TASKS,
    find_layout,
    read_questions,
    sample_id_of,
)
from gnomon_published.benchmarks.sti_bench.prompt import displayed, showing
from gnomon_published.benchmarks.sti_bench.scoring import score_question
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.inputs import Need


class StiBench(PlainBenchmark):
    """Eight tasks in three kinds of scene; a cell is a task, the headline the accuracy over all questions."""

    name = "sti-bench"
    version = "2"
    tasks = TASKS
    scenes: tuple[str, ...] = SCENES
    is_cpu_bound = True
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"
    provides: tuple[Need, ...] = (Footage, None)
    question_file = QuestionFile(name="qa.parquet", clips="video", id_of=sample_id_of)
    options: frozenset[Varied] = frozenset({"frames", "fps", "paper"})
    transforms: Mapping[Transform, frozenset[str]] = {"permute_options": frozenset(TASKS)}

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is None:
            raise DataError("sti-bench needs the folder of its published files", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        file, folders = find_layout(data)
        questions, faults = read_questions(file)
        return draw_samples(
            questions,
            faults,
            folders=folders,
            showing=showing(protocol, frames=select.frames, fps=select.fps),
            select=select,
            protocol=protocol,
            media=media,
        )

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        reject_variant(self.name, variant)
        question = displayed(sample.target["question"], sample.target["protocol"])
        return score_question(question, response, scoring=scoring)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        reject_variant(self.name, variant)
        return score_question(question_of(record, LETTERS), record["response"], scoring=scoring)

    def decoding(self, protocol: str) -> Mapping[str, Decoding]:
        """That of the released API script; the paper names none."""
        released = Decoding(temperature=0.0, top_p=1.0, max_tokens=100)
        return {EVERY_TASK: released} if protocol == "official" else {}

    def transformed(
        self,
        sample: Sample,
        transform: Transform,
        *,
        seed: int,
        show: Collection[Shown],  # noqa: ARG002 (the options are always shown)
        media: MediaStore,  # noqa: ARG002 (no picture changes)
    ) -> Sample:
        if transform not in self.transforms:
            raise DataError(f"{self.name} has no {transform!r}")
        question = displayed(sample.target["question"], sample.target["protocol"])
        return permuted(sample, question, seed=seed)

    def answer_in_original(self, sample: Sample, response: str) -> Mapping[str, str | None]:
        question = displayed(sample.target["question"], sample.target["protocol"])
        return answer_in_original(sample, question, response)

    def question_view(self, sample: Sample) -> QuestionView:
        question = displayed(sample.target["question"], sample.target["protocol"])
        return clip_question_view(sample, question, question.text, facts={"Scene": question.scene})

    def verdict_in_words(self, sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        question = displayed(sample.target["question"], sample.target["protocol"])
        return clip_verdict(question, answer, metrics.get("extracted"))


sti_bench: Benchmark = StiBench()
