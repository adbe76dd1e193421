"""Questions of one's own as a benchmark plug-in."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from gnomon.benchmarks.questions.columns import ColumnNames, Named
from gnomon.benchmarks.questions.floors import option_floors
from gnomon.benchmarks.questions.loader import find_file, held_columns, holds_boxes, read_file
from gnomon.benchmarks.questions.question import OwnQuestion, displayed_in
from gnomon.benchmarks.questions.rows import TASK, Reading
from gnomon.benchmarks.questions.samples import FRAMES, OwnSamples
from gnomon.benchmarks.questions.scorers.judge import JudgeScorer
from gnomon.benchmarks.questions.scorers.option import (
    OptionScorer,
    choice,
    labels_in,
    options_in,
    right_letter,
)
from gnomon.benchmarks.questions.scorers.scorers import make_scorer
from gnomon.benchmarks.questions.tables import sha256_of
from gnomon.core.benchmark import (
    Benchmark,
    PromptProtocol,
    SampleSet,
    Scoring,
    Varied,
    reject_variant,
)
from gnomon.core.errors import DataError, SpecError
from gnomon.core.judging import LabelledReply
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import NO_ANSWER, QuestionView, ShownPicture, missing_fact
from gnomon.core.sample import ImageRef, Sample, Shown, Transform
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_transforms import answer_in_original, permuted
from gnomon.media.clip_views import clip_options, clip_spans, clip_verdict, shown_clips
from gnomon.media.frame_rules import Uniform, as_asked
from gnomon_tools.core.clip import Footage, Pictures
from gnomon_tools.core.inputs import Need
from gnomon_tools.core.sketch import Sketch
from gnomon_tools.scene.boxes import Boxes
from gnomon_tools.scene.scene import Scene

NEEDS: Mapping[str, Need] = {"scene": Scene, "video": Footage, "images": Pictures}  # by column
MAX_QUOTED = 120  # characters of an answer that cannot be read


class Questions(PlainBenchmark):
    """Tasks are those of the file; a cell is a task, the headline the mean over all questions."""

    name = "questions"
    version = "1"
    tasks: tuple[str, ...] = (TASK,)
    is_cpu_bound = True
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"
    options: frozenset[Varied] = frozenset({"frames", "fps"})
    transforms: Mapping[Transform, frozenset[str]] = {"permute_options": frozenset(tasks)}

    def __init__(
        self, reading: Reading | None = None, *, provides: tuple[Need, ...] = (*NEEDS.values(), Boxes)
    ) -> None:
        self._reading = reading or Reading()
        self.provides: tuple[Need, ...] = (*provides, None)

    def serving(self, data: Path) -> Benchmark:
        """The same benchmark for what some row of the file has."""
        path, columns = find_file(data), self._reading.columns
        held = held_columns(path, columns, tuple(NEEDS))
        boxes = (Boxes,) if "scene" in held and holds_boxes(path, columns) else ()
        return Questions(self._reading, provides=(*(NEEDS[name] for name in NEEDS if name in held), *boxes))

    def reading(self, columns: Named, scorer: str | Mapping[str, Any] | None) -> Benchmark:
        """The same benchmark for a file with these columns and this scorer."""
        return Questions(
            Reading(
                columns=ColumnNames(named=dict(columns)),
                scorer=None if scorer is None else make_scorer(scorer),
            )
        )

    def data_sha256(self, data: Path) -> str:
        return sha256_of(find_file(data))

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is None:
            raise DataError("questions needs a file of them", field="data")
        file = read_file(find_file(data), self._reading)
        tasks = tuple(dict.fromkeys(entry.ref.task for entry in file.entries.values()))
        select.check(tasks=tasks, scenes=())
        tags = dict.fromkeys(tag for entry in file.entries.values() for tag in entry.tags)
        for tag in select.tags:
            if tag not in tags:
                raise SpecError(f"no {tag!r}; allowed: {', '.join(tags) or 'nothing'}", field="select.tags")
        chosen = (
            entry
            for entry in file.entries.values()
            if (not select.tasks or entry.ref.task in select.tasks)
            and (not select.tags or set(select.tags) & set(entry.tags))
        )
        drawn = select.drawn(chosen, lambda entry: entry.ref.sample_id)
        return OwnSamples(
            file=file,
            entries={entry.ref.sample_id: entry for entry in drawn},
            protocol=protocol,
            rule=as_asked(Uniform, FRAMES, frames=select.frames, fps=select.fps),
            media=media,
        )

    def score(
        self,
        sample: Sample,
        response: str,
        *,
        scoring: Scoring,  # noqa: ARG002 (the scorer is the rule)
        variant: str | None = None,
    ) -> Score:
        reject_variant(self.name, variant)
        question = displayed_in(sample)
        return question.scorer.score(question.truth, response)

    def score_record(
        self,
        record: Mapping[str, Any],
        *,
        scoring: Scoring,  # noqa: ARG002 (the scorer is the rule)
        variant: str | None = None,
    ) -> Score:
        """A record is a row of a file with a response; options are lettered as they are there."""
        reject_variant(self.name, variant)
        for field in ("answer", "response"):
            if field not in record:
                raise SpecError(f"a record needs {field!r}; response may be null", field=field)
        options = options_in(record)
        named = record.get("scorer")
        scorer = make_scorer(named) if named else self._reading.scorer
        scorer = scorer or make_scorer("option" if options else "text")
        is_choice = isinstance(scorer, OptionScorer) and options
        answer, response = record["answer"], record["response"]
        if is_choice:
            truth = choice(options, right_letter(answer, options, labels_in(record)))
        else:
            truth = scorer.truth(answer)
        return scorer.score(truth, response if isinstance(response, str) else "")

    def needs_judge(self, sample: Sample) -> bool:
        return isinstance(displayed_in(sample).scorer, JudgeScorer)

    def judge_prompt(self, sample: Sample, response: str) -> str:
        question = displayed_in(sample)
        asked = "\n\n".join(filter(None, (question.context, question.text)))
        return _judge_of(question).prompt(asked, question.truth, question.rubric, response)

    def labelled_reply(self, sample: Sample) -> LabelledReply | None:
        question = displayed_in(sample)
        if question.label is None:
            return None
        return LabelledReply(text=question.reply, is_right=question.label)

    def judged_score(self, sample: Sample, response: str, *, is_right: bool) -> Score:
        return _judge_of(displayed_in(sample)).verdict_score(response, is_right=is_right)

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        question = displayed_in(sample)
        if question.options:
            return option_floors(question.options, question.gold)
        usual: tuple[str, str] | None = sample.target.get("usual")
        if usual is None:
            return {}
        rule, response = usual
        return {rule: question.scorer.score(question.truth, response).value or 0.0}

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
        question = displayed_in(sample)
        if not question.options:
            raise DataError(f"{sample.ref.sample_id}: has no options")
        return permuted(sample, question, seed=seed)

    def answer_in_original(self, sample: Sample, response: str) -> Mapping[str, str | None]:
        question = displayed_in(sample)
        if not question.options:
            return {"original_answer": question.scorer.score(question.truth, response).answer}
        return answer_in_original(sample, question, response)

    def question_view(self, sample: Sample) -> QuestionView:
        question = displayed_in(sample)
        pictures: tuple[ImageRef, ...] = sample.target.get("pictures", ())
        facts = {"Task": question.task, "Scorer": question.scorer.kind}
        if question.tags:
            facts["Tags"] = ", ".join(question.tags)
        truth = question.scorer.sketch(question.truth, None)
        return QuestionView(
            question="\n\n".join(filter(None, (question.context, question.text))),
            options=tuple(clip_options(question)),
            truth_text=question.truth.text,
            pictures=tuple(
                ShownPicture(image=image, caption=f"Picture {number} of {len(pictures)}")
                for number, image in enumerate(pictures, start=1)
            ),
            clips=shown_clips(sample),
            seen=Sketch(spans=tuple(clip_spans(sample))),
            truth=truth,
            facts={**facts, **missing_fact(sample)},
        )

    def answer_sketch(self, sample: Sample, answer: str) -> Sketch:
        question = displayed_in(sample)
        return question.scorer.sketch(question.truth, answer)

    def verdict_in_words(self, sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        question = displayed_in(sample)
        if question.options:
            return clip_verdict(question, answer, None)
        if not answer:
            return NO_ANSWER
        read = question.scorer.score(question.truth, answer).answer  # `answer` may be the whole reply
        return question.scorer.verdict(question.truth, read or answer[:MAX_QUOTED], metrics)

    def answer_form(self, sample: Sample) -> str:
        """Empty: people choose one option, or write a text."""
        return "" if displayed_in(sample).options else "<answer>"


def _judge_of(question: OwnQuestion) -> JudgeScorer:
    assert isinstance(question.scorer, JudgeScorer), "asked of samples alone that need a judge"  # noqa: S101
    return question.scorer


questions: Benchmark = Questions()
