"""GTR-Bench as a benchmark plug-in."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring, reject_variant
from gnomon.core.decoding import EVERY_TASK, Decoding
from gnomon.core.errors import DataError, SpecError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import Sample, Shown, Transform
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench.case import METRIC_TASKS, SCENES, TASK_NAMES, TASKS, gold_from_json
from gnomon_published.benchmarks.gtr_bench.prompt import answer_form, worded_sample
from gnomon_published.benchmarks.gtr_bench.scoring import score_case
from gnomon_tools.core.inputs import Need
from gnomon_tools.core.sketch import Sketch
from gnomon_tools.scene.scene import Scene


class GtrBench(PlainBenchmark):
    """Seven tasks in two scenes; a cell is a scene's task, the headline the mean of the 14 cells."""

    name = "gtr-bench"
    version = "2"
    tasks = tuple(TASKS)
    task_names = TASK_NAMES
    metric_tasks = METRIC_TASKS
    scenes: tuple[str, ...] = SCENES
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_cells"
    provides: tuple[Need, ...] = (Scene,)

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is None:
            raise DataError("gtr-bench needs the folder of its published files", field="data")
        from gnomon_published.benchmarks.gtr_bench.loader import open_samples

        return open_samples(data=data, select=select, protocol=protocol, media=media)

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        reject_variant(self.name, variant)
        target = sample.target
        return score_case(target["case"], response, scoring=scoring, protocol=target["protocol"])

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        reject_variant(self.name, variant)
        if "response" not in record:
            raise SpecError("a record needs a response; it may be null", field="response")
        response = record["response"]
        if response is not None and not isinstance(response, str):
            raise SpecError(f"a text or null, got {type(response).__name__}", field="response")
        try:
            case = gold_from_json(record.get("case"))
        except DataError as error:
            raise SpecError(error.message, field=".".join(filter(None, ("case", error.field)))) from None
        return score_case(case, response, scoring=scoring)

    @property
    def transforms(self) -> Mapping[Transform, frozenset[str]]:
        from gnomon_published.benchmarks.gtr_bench.transforms import TRANSFORMS

        return TRANSFORMS

    def transformed(
        self, sample: Sample, transform: Transform, *, seed: int, show: Collection[Shown], media: MediaStore
    ) -> Sample:
        from gnomon_published.benchmarks.gtr_bench.loader import as_jpeg
        from gnomon_published.benchmarks.gtr_bench.transforms import transformed

        encode = as_jpeg if sample.target["protocol"] == "official" else bytes
        return transformed(sample, transform, seed=seed, show=show, media=media, encode=encode)

    def answer_in_original(self, sample: Sample, response: str) -> Mapping[str, str | None]:
        from gnomon_published.benchmarks.gtr_bench.transforms import answer_in_original

        return answer_in_original(sample, response)

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        from gnomon_published.benchmarks.gtr_bench.audit.shortcuts import floors_of

        return floors_of(sample)

    def question_view(self, sample: Sample) -> QuestionView:
        from gnomon_published.benchmarks.gtr_bench.question_view import question_view

        return question_view(sample)

    def answer_sketch(self, sample: Sample, answer: str) -> Sketch:
        from gnomon_published.benchmarks.gtr_bench.question_view import answer_sketch

        return answer_sketch(sample, answer)

    def verdict_in_words(self, sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        from gnomon_published.benchmarks.gtr_bench.question_view import verdict_in_words

        return verdict_in_words(sample, answer, metrics)

    def worded(self, sample: Sample, wording: str) -> Sample | None:
        return worded_sample(sample, wording)

    def answer_form(self, sample: Sample) -> str:
        return answer_form(sample.target["case"])

    def decoding(self, protocol: str) -> Mapping[str, Decoding]:
        """Released code and paper agree."""
        return {EVERY_TASK: Decoding(temperature=0.1, max_tokens=16_384)} if protocol == "official" else {}


gtr_bench: Benchmark = GtrBench()
