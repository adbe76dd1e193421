"""MapEval as a benchmark plug-in."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring, reject_variant
from gnomon.core.chosen_samples import ChosenSamples
from gnomon.core.errors import DataError, SpecError
from gnomon.core.near_equal import Asked
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import NO_ANSWER, Option, QuestionView, verdict_on_options
from gnomon.core.sample import SHOWABLE, Sample, SampleRef, Shown
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.mapeval.loader import (
    FILE,
    TASKS,
    MapQuestion,
    answer_of,
    clusters_of,
    names_of,
    read_questions,
)
from gnomon_published.benchmarks.mapeval.prompt import displayed, options_of, parts_of
from gnomon_published.benchmarks.mapeval.scoring import score_options
from gnomon_published.map_record.record import MapRecord
from gnomon_published.unique_rows import published_file
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.core.marks import dot_at
from gnomon_tools.core.sketch import Sketch


class MapEval(PlainBenchmark):
    """Five classes of questions; a cell is a class, the headline the accuracy over all questions."""

    name = "mapeval"
    version = "1"
    tasks = TASKS
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"
    provides: tuple[Need, ...] = (MapRecord,)
    official_show: tuple[Shown, ...] = (*SHOWABLE, "facts")
    task_names: Mapping[str, str] = {"poi": "about one place or a pair of places"}

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,
        media: MediaStore,  # noqa: ARG002 (there are no media)
    ) -> SampleSet:
        if data is None:
            raise DataError("mapeval needs the folder of its published file", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        file = published_file(data, FILE, holds=f"MapEval questions; expected {FILE}")
        questions, faults = read_questions(file)
        clusters = clusters_of(questions)
        selected = (question for question in questions if not select.tasks or question.task in select.tasks)
        chosen = select.drawn(selected, lambda question: question.sample_id)
        return ChosenSamples(
            rows={
                question.sample_id: (_ref(question, clusters[question.sample_id]), question)
                for question in chosen
            },
            faults=faults,
            build=partial(_sample, protocol),
            tell=_asked,
        )

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        reject_variant(self.name, variant)
        return score_options(options_of(sample), response, scoring=scoring)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        """The options are numbered as published."""
        reject_variant(self.name, variant)
        if "response" not in record:
            raise SpecError("a record needs 'response'; it may be null", field="response")
        options, correct = answer_of(record)
        question = MapQuestion(sample_id="", task="", text="", options=options, correct=correct, context="")
        return score_options(displayed(question, "official"), record["response"], scoring=scoring)

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        from gnomon_published.benchmarks.mapeval.audit import floors_of

        return floors_of(sample)

    def question_view(self, sample: Sample) -> QuestionView:
        question: MapQuestion = sample.target["question"]
        options = options_of(sample)
        evidence = question.evidence
        dots = (
            dot_at((place.lon_deg, place.lat_deg), place.name, "asked", radius_m=place.position_error_m)
            for place in evidence.record.every_place()
            if place.lat_deg is not None and place.lon_deg is not None
        )
        return QuestionView(
            question=question.text,
            options=tuple(_shown_options(sample)),
            truth_text=f"{options.gold}. {options.texts.get(options.gold, '')}",
            seen=Sketch(marks=tuple(dot for dot in dots if dot is not None), plane="earth"),
            facts={
                "Class": question.task,
                "Lines behind tools": f"{evidence.behind_tools} of {evidence.lines}",
            },
        )

    def verdict_in_words(
        self,
        sample: Sample,
        answer: str,
        metrics: Mapping[str, float | str | None],  # noqa: ARG002 (the answer says it all)
    ) -> str:
        options = options_of(sample)
        name = answer if answer in options.texts else score_options(options, answer, scoring="strict").answer
        return verdict_on_options(_shown_options(sample), [name]) if name else NO_ANSWER


def _sample(protocol: PromptProtocol, ref: SampleRef, question: MapQuestion) -> Sample:
    return Sample(
        ref=ref,
        parts=parts_of(question, protocol),
        target={"question": question, "protocol": protocol},
        inputs=held(replace(question.evidence.record, names=names_of(question))),
    )


def _asked(question: MapQuestion) -> Asked:
    return Asked(
        sample_id=question.sample_id,
        text=f"{question.context}\n{question.text}",
        options=question.options,
        answers=("" if question.correct is None else question.options[question.correct],),
    )


def _ref(question: MapQuestion, cluster: str) -> SampleRef:
    return SampleRef(sample_id=question.sample_id, task=question.task, cell=question.task, cluster=cluster)


def _shown_options(sample: Sample) -> list[Option]:
    options = options_of(sample)
    return [
        Option(letter=name, text=text, right="right" if name == options.gold else "")
        for name, text in options.texts.items()
    ]


mapeval: Benchmark = MapEval()
