"""UrbanVideo-Bench as a benchmark plug-in."""

from collections.abc import Mapping
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
from gnomon.core.errors import DataError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import Sample
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_samples import draw_samples, question_of
from gnomon.media.clip_views import clip_question_view, clip_verdict
from gnomon_published.benchmarks.urbanvideo_bench.loader import (
    LETTERS,
    TASKS,
    find_layout,
    read_questions,
    sample_id_of,
    split_question,
)
from gnomon_published.benchmarks.urbanvideo_bench.prompt import (
    answer_to,
    by_clip,
    displayed,
    numbered,
    showing,
)
from gnomon_published.benchmarks.urbanvideo_bench.scoring import score_question
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.inputs import Need


class UrbanVideoBench(PlainBenchmark):
    """Sixteen tasks; a cell is a task, the headline the accuracy over all questions."""

    name = "urbanvideo-bench"
    version = "1"
    tasks = TASKS
    is_cpu_bound = True
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"
    provides: tuple[Need, ...] = (Footage, None)
    question_file = QuestionFile(name="MCQ.parquet", clips="videos", id_of=sample_id_of)
    options: frozenset[Varied] = frozenset({"frames", "fps", "together", "paper"})

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is None:
            raise DataError("urbanvideo-bench needs the folder of its published files", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        file, folders = find_layout(data)
        questions, faults = read_questions(file)
        if protocol == "guarded":
            questions = [question for question in questions if question.gold in question.options]
        together = None
        if select.together:
            questions = numbered(questions)
            together = by_clip(questions)
        return draw_samples(
            questions,
            faults,
            folders=folders,
            showing=showing(protocol, frames=select.frames, fps=select.fps, together=together),
            select=select,
            protocol=protocol,
            media=media,
        )

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        reject_variant(self.name, variant)
        question = displayed(sample.target["question"], sample.target["protocol"])
        if question.place is not None:
            own = answer_to(question.place, response)
            if own is None:
                return Score(value=0.0, metrics={"option": None}, flags=("no_answer",))
            response = own
        return score_question(question, response, scoring=scoring)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        reject_variant(self.name, variant)
        return score_question(question_of(record, LETTERS), record["response"], scoring=scoring)

    def question_view(self, sample: Sample) -> QuestionView:
        question = displayed(sample.target["question"], sample.target["protocol"])
        text = split_question(question.text)[0] if question.options else question.text
        is_alone = question.place is None
        facts = {} if is_alone else {"Asked together": f"question {question.place} of its clip"}
        return clip_question_view(sample, question, text, facts=facts)

    def verdict_in_words(self, sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        question = displayed(sample.target["question"], sample.target["protocol"])
        own = answer_to(question.place, answer) if question.place is not None else None
        return clip_verdict(question, own or answer, metrics.get("option"))


urbanvideo_bench: Benchmark = UrbanVideoBench()
