"""Benchmarks: loader, prompt, scorer and headline of one set of questions, and the abilities it may have.

`Benchmark` is what every benchmark has. The protocols below it are optional abilities: each is a few lines in
the benchmark's own class and needs no edit elsewhere (docs/adding-a-benchmark.md). Two more are modules in
its folder: `audit` (gnomon/core/audit_plugin.py) and `exhibit` (gnomon_analyses/sections/figures.py).
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol, runtime_checkable

from gnomon.core.decoding import Decoding
from gnomon.core.errors import SpecError
from gnomon.core.judging import LabelledReply
from gnomon.core.plan_row import PlanRow
from gnomon.core.question_view import QuestionView, plain_verdict, plain_view
from gnomon.core.row import Row
from gnomon.core.sample import DataFault, Sample, SampleRef, Shown
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.core.tool_inputs import ProvidesToolInputs, ServesByFile, ServesBySelect
from gnomon.core.transforms import Transforms
from gnomon.media import MediaStore
from gnomon_tools.core.abilities import ability_faults
from gnomon_tools.core.inputs import need_fault
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.sketch import Sketch

Scoring = Literal["official", "strict"]
"""How answers are scored: as the released code does, or by Gnomon's own rule."""
PromptProtocol = Literal["official", "guarded", "paper"]
"""How questions are put: as the released code does, without what gives answers away, or as the paper says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A row of the paper's own table, in fractions; `group` says of what kind (proprietary, human, …)."""

    model: str
    group: str
    aggregate: float | None
    by_task: Mapping[str, float | None] = field(default_factory=dict)


class SampleSet(Protocol):
    """The selected samples: cheap references first, each whole sample only when asked for."""

    @property
    def refs(self) -> Sequence[SampleRef]: ...

    @property
    def faults(self) -> Sequence[DataFault]: ...

    def get(self, sample_id: str) -> Sample:
        """The whole sample.

        Raises:
            NotFound: it is not among the selected ones.
        """


class Benchmark(Protocol):
    """One benchmark, versioned: a change that can change a score changes `version`."""

    name: str
    version: str
    tasks: tuple[str, ...]
    scenes: tuple[str, ...]
    variants: tuple[str, ...]  # names of several official scorers; empty where there is one
    needs_data: bool
    headline: Literal["mean_of_cells", "mean_of_samples"]

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        """Read or generate the selected samples.

        Raises:
            DataError: `data` is not this benchmark's published layout.
            SpecError: `select` names a task or scene that does not exist.
        """

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        """Parse and score a response; whatever a model may write gets a score, never an exception."""

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        """Score one line of `gnomon score`: a response with the published record it answers.

        Raises:
            SpecError: the record lacks a field that scoring needs.
        """

    def published(self) -> Sequence[Published]: ...


def is_benchmark(item: object) -> bool:
    """Whether an object of a plug-in file is a benchmark: it has tasks, and opens and scores samples."""
    has_tasks = isinstance(getattr(item, "tasks", None), tuple)
    return has_tasks and callable(getattr(item, "open", None)) and callable(getattr(item, "score", None))


BENCHMARKS: Registry[Benchmark] = Registry(
    "gnomon.benchmarks",
    "benchmark",
    folders=True,
    group="gnomon.benchmarks",
    accepts=is_benchmark,
    check=lambda item: benchmark_fault(item),
)
"""All benchmarks that are here, by name."""


def reject_variant(benchmark: str, variant: str | None) -> None:
    """Refuse a variant where a benchmark has one official scorer.

    Raises:
        SpecError: one was named.
    """
    if variant is not None:
        raise SpecError(f"{benchmark} has one official scorer, so no {variant!r}", field="variant")


@runtime_checkable
class ReadsOwnFiles(Protocol):
    """Asks the questions of a file of the user's own.

    A spec may set `columns` and `scorer`; the tasks are those of the file, so that names of them are checked
    once it is open. The hash of the file is frozen with the job.

    Example: `reading` gives the benchmark for a file whose column `prompt` holds the questions.
    """

    def reading(self, columns: Mapping[str, Any], scorer: str | Mapping[str, Any] | None) -> "Benchmark":
        """The benchmark for files with these columns, and this scorer where a row names none.

        Raises:
            SpecError: names the field that is not allowed.
        """

    def data_sha256(self, data: Path) -> str:
        """The SHA-256 of the file's bytes, in hexadecimal.

        Raises:
            DataError: it cannot be read.
        """


@runtime_checkable
class AsksJudge(Protocol):
    """Has questions whose replies no rule can score: the model that a spec names as `judge` reads them.

    `score` of such a sample is None, with the reason.

    Example: `judge_prompt` of `questions` shows the question, the right answer, the rubric and the reply.
    """

    def needs_judge(self, sample: Sample) -> bool: ...

    def judge_prompt(self, sample: Sample, response: str) -> str:
        """What the judge is asked about a response; empty where that holds no reply to judge."""

    def labelled_reply(self, sample: Sample) -> LabelledReply | None:
        """A reply to the question that people have judged, to hold the judge against; None without one."""

    def judged_score(self, sample: Sample, response: str, *, is_right: bool) -> Score: ...


@runtime_checkable
class NamesJudged(Protocol):
    """Samples of which some may need a judge: `judged` are their ids."""

    @property
    def judged(self) -> Sequence[str]: ...


@runtime_checkable
class HasOracle(Protocol):
    """Knows the truth of a question's intermediate steps.

    An arm may show `oracle`, and the preset `ladder` gets its sixth arm: what better tools could add.

    Example: `oracle_steps` of `worlds` tells where a target came into view and how fast it was.
    Steps stop short of the choice; an audit of the benchmark can hold them to that (docs/audit.md).
    """

    def oracle_steps(self, sample: Sample) -> str:
        """The intermediate steps in words and numbers, for the prompt of an arm that shows `oracle`."""


HEURISTIC_PREFIX = "floor: "  # of the metrics that hold a rule's score, in every row


@runtime_checkable
class HasHeuristics(Protocol):
    """Knows rules that guess without a model, such as the nearest camera.

    Each row keeps their scores as metrics `floor: RULE`; the report shows them beside every result.

    Example: `heuristic_scores` gives `{"first option": 1.0}` where that is right.
    """

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        """What each rule that applies to the sample scores on it, by its name."""


FEATURE_PREFIX = "feature: "  # of the metrics that hold what makes a sample hard, in every row


@runtime_checkable
class MeasuresDifficulty(Protocol):
    """Measures what makes a sample hard.

    Each row keeps the features as metrics `feature: NAME`; the report draws each arm's score against them.

    Example: `features` of `worlds` gives `{"level": "hard", "detour": 1.8, "gap_s": 41.0}`.
    """

    def features(self, sample: Sample) -> Mapping[str, float | str]:
        """The sample's features, numbers or names, by name; one that has no meaning for it is left out."""


@runtime_checkable
class CpuBound(Protocol):
    """Builds or scores samples slowly.

    Workers do both in threads beside their event loop, so that other trials go on meanwhile.

    Example: `is_cpu_bound = True`, where building a sample decodes video.
    """

    is_cpu_bound: bool


Varied = Literal["frames", "fps", "language", "together", "difficulty", "world", "paper"]


@runtime_checkable
class SupportsOptions(Protocol):
    """Has a prompt that can be varied.

    A spec may set these fields of `select`, and `protocol: paper` where `paper` is among them; they reach
    `open` in `select` and `protocol`. Others are refused by name.

    Example: `options = frozenset({"frames", "fps"})`.
    """

    options: frozenset[Varied]


@runtime_checkable
class SpellsOutTasks(Protocol):
    """Says what the abbreviations stand for that name its tasks.

    The report spells each of them out where it is first shown.

    Example: `task_names = {"ATI": "arrival time interval"}`.
    """

    task_names: Mapping[str, str]


@runtime_checkable
class LimitsMetrics(Protocol):
    """Keeps a metric also of answers to which it does not apply, as its released scorer does.

    The report leaves the answers to other tasks out of the metric's mean.

    Example: `metric_tasks = {"TimeIoU": frozenset({"NextSpotForecasting"})}`.
    """

    metric_tasks: Mapping[str, frozenset[str]]


@runtime_checkable
class JudgesPlans(Protocol):
    """Judges plans by many rules, and says what each row adds to their rates and kinds of errors.

    The report then shows delivery, micro, macro and pass rates with intervals, and a table of error kinds.

    Example: `plan_row` gives `PlanRow(rates={"delivery": (1, 1)}, errors={"hours": ("OPEN_HOURS",)})`.
    """

    def plan_row(self, row: Row) -> PlanRow:
        """What a scored row adds; rows of older versions are read as well."""


@runtime_checkable
class OfficialScenes(Protocol):
    """Has an official task that asks a part of what is published.

    `protocol: official` asks these scenes unless `select.scenes` names others; the frozen spec says so.

    Example: `official_scenes = ("test",)`.
    """

    official_scenes: tuple[str, ...]


@runtime_checkable
class OfficialShow(Protocol):
    """Has a published prompt that holds more than an arm shows by default.

    `protocol: official` shows these parts in arms that name none; the frozen spec says so.

    Example: `official_show = ("media", "facts")`, where the published prompt holds the evidence as text.
    """

    official_show: tuple[Shown, ...]


@runtime_checkable
class SetsDecoding(Protocol):
    """Knows how replies were drawn by the released code or in the paper.

    The settings are frozen with the job, and every model is asked with them unless its own entry sets others.

    Example: `decoding` gives `{EVERY_TASK: Decoding(temperature=0.0)}` for `official`.
    """

    def decoding(self, protocol: str) -> Mapping[str, Decoding]:
        """By task, or once under EVERY_TASK; empty where the protocol sets nothing."""


def decoding_of(benchmark: object, protocol: str) -> dict[str, Decoding]:
    """What a benchmark's protocol sets; nothing where the benchmark is silent.

    >>> decoding_of(object(), "official")
    {}
    """
    return dict(benchmark.decoding(protocol)) if isinstance(benchmark, SetsDecoding) else {}


@runtime_checkable
class PlansRequests(Protocol):
    """Turns a request of a user's own into a sample.

    A spec may give `select.request`; it reaches `open`, which checks it.

    Example: `plans_requests = True`, for trips that a user asks for.
    """

    plans_requests: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """The Parquet file with one question a row, the folder of its clips, and the sample's id of a row."""

    name: str
    clips: str
    id_of: Callable[[Mapping[str, Any]], str]


@runtime_checkable
class HasQuestionFile(Protocol):
    """Publishes its questions as rows of one Parquet file, beside a folder of clips.

    `gnomon generate filtered` can write the file without the questions that every model guesses blind.

    Example: `question_file = QuestionFile(name="qa.parquet", clips="video", id_of=sample_id_of)`.
    """

    question_file: QuestionFile


@runtime_checkable
class ShowsQuestions(Protocol):
    """Says what a person is shown of a question.

    The page, the report and the review desk show it. Without it a question is its prompt and its target.

    Example: `question_view` gives `QuestionView(question="Which …?", options=(…), truth_text="C")`.
    """

    def question_view(self, sample: Sample) -> QuestionView:
        """The question with its truth, for people; never for a model."""

    def answer_sketch(self, sample: Sample, answer: str) -> Sketch:
        """Where and when an answer says something happens; empty where it has no place or time.

        `answer` is what a row stores of it, or the whole reply, which may say more.
        """


@runtime_checkable
class PutsVerdictsInWords(Protocol):
    """Says in one sentence how an answer compares with the truth.

    It heads the page of a trial. Without it the sentence names the answer and what is right.

    Example: `verdict_in_words` gives `"Both cameras right, both times early, by 1.6 s and 4.2 s."`
    """

    def verdict_in_words(self, sample: Sample, answer: str, metrics: Mapping[str, float | str | None]) -> str:
        """Facts alone; `answer` is what a row stores of it, or the whole reply, which may say more.

        It is empty where nothing was read; `metrics` are the row's.
        """


def view_of(benchmark: object, sample: Sample) -> QuestionView:
    """What a person is shown of a question; its prompt and its target where the benchmark says no more."""
    return benchmark.question_view(sample) if isinstance(benchmark, ShowsQuestions) else plain_view(sample)


def sketch_of(benchmark: object, sample: Sample, answer: str | None) -> Sketch:
    """Where and when an answer says something happens; empty where nothing is known of it."""
    if answer and isinstance(benchmark, ShowsQuestions):
        return benchmark.answer_sketch(sample, answer)
    return Sketch()


def verdict_of(
    benchmark: object, sample: Sample, answer: str | None, metrics: Mapping[str, float | str | None]
) -> str:
    """How an answer compares with the truth, in one sentence; `answer` is None where none was read."""
    if isinstance(benchmark, PutsVerdictsInWords):
        return benchmark.verdict_in_words(sample, answer or "", metrics)
    return plain_verdict(view_of(benchmark, sample), answer)


@runtime_checkable
class HasAnswerForm(Protocol):
    """Asks for more than one option, such as two cameras with their times.

    The review desk shows a field for each `<placeholder>` of the form: `<option>` offers the options, any
    other takes text. Without it people choose one option, or write a text.

    Example: `answer_form` gives `{"answer": "<option>", "time_duration": ["<HH:MM:SS-HH:MM:SS>"]}`.
    """

    def answer_form(self, sample: Sample) -> str:
        """The reply in which the scorer finds the answer; empty where one option is all that is asked for."""


ABILITIES: tuple[type, ...] = (
    ShowsQuestions,
    PutsVerdictsInWords,
    HasAnswerForm,
    ProvidesToolInputs,
    HasOracle,
    HasHeuristics,
    MeasuresDifficulty,
    Transforms,
    SupportsOptions,
    SpellsOutTasks,
    LimitsMetrics,
    JudgesPlans,
    OfficialScenes,
    OfficialShow,
    SetsDecoding,
    PlansRequests,
    AsksJudge,
    HasQuestionFile,
    ReadsOwnFiles,
    ServesByFile,
    ServesBySelect,
    CpuBound,
)


def benchmark_fault(benchmark: object) -> str:
    """What is wrong with a benchmark: half of an ability, other methods, unknown needs; empty if nothing."""
    faults = list(ability_faults(benchmark, Benchmark, is_optional=False))
    faults += [fault for ability in ABILITIES for fault in ability_faults(benchmark, ability)]
    provides = getattr(benchmark, "provides", ())
    faults += [fault for need in provides if (fault := need_fault(need, said="provides"))]
    return "; ".join(faults)


MODULES = ("audit", "exhibit")  # what a benchmark's folder may hold besides, found by its name


def benchmark_module(benchmark: str, name: str) -> ModuleType | None:
    """The module of this name in the benchmark's folder; None where there is none.

    >>> benchmark_module("questions", "audit") is None, benchmark_module("questions", "exhibit") is None
    (False, True)
    """
    folder = BENCHMARKS.folder_module(benchmark) if benchmark in BENCHMARKS else None
    if folder is None or importlib.util.find_spec(f"{folder}.{name}") is None:
        return None
    return importlib.import_module(f"{folder}.{name}")
