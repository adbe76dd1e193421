"""What a section of the report is, what it is computed from, and which sections there are.

A section is one public module of `gnomon/report/sections/`, or an entry point of a package: its object of the
module's own name holds its part of the JSON document, how that is computed, and how it looks in every form.
Its TypedDicts are those of `typing_extensions`, which pydantic can describe on Python 3.11 too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NotRequired, Protocol, TypeVar, cast

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.benchmark import Benchmark
from gnomon.core.review import HumanAnswer
from gnomon.core.row_batch import RowBatch
from gnomon.core.sample import DataFault
from gnomon.core.seal import SealLine
from gnomon.exchange.imported_job import is_imported
from gnomon.fitness.table import Fitness
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.sequence import DrawnPlan, StoredLook
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import count_trials
from gnomon_tools.core.registry import Registry

Interval = list[float] | None  # low, high; None where it cannot be known
ReadTrace = Callable[[str], Mapping[str, Any] | None]
PairKey = tuple[str, str, str]  # model, baseline, variant
UNFINISHED = ("preparing", "queued", "running")

Part = TypeVar("Part")
Collected = TypeVar("Collected")


class Collector(Protocol):
    """Takes note of all rows while the scores are read, for a section that needs more than scores."""

    def add(self, batch: RowBatch) -> None:
        """Take note of the next rows."""


class ModelCheckRow(TypedDict):
    """A model's preflight: its state, the last fault, and what the calls have cost (None: unknown)."""

    model: str
    state: str
    cause: str
    error: str
    calls: int
    usd: float | None
    tokens: int | None
    waits_until: NotRequired[str | None]  # its provider said in the words of `waits_for` not to call before
    waits_for: NotRequired[str]
    asks_for: NotRequired[str]  # of a call in flight, for `asks_s` seconds by now
    asks_s: NotRequired[float | None]
    fitness: NotRequired[Fitness | None]  # what was found out about the endpoint; None: not known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportInput:
    """All that a report is computed from; `part` gives a section what another one has computed."""

    job_id: str
    spec: JobSpec
    status: str
    planned: int  # trials
    benchmark: Benchmark
    scores: ScoreMatrix
    pairs: Sequence[ArmPair]  # of arms that are compared, primary ones first
    collectors: Sequence[Collector]
    faults: Sequence[DataFault]
    checks: Sequence[ModelCheckRow]
    trace: ReadTrace  # reads a stored trace by its trial's id
    error: str  # why the job failed
    spec_hash: str
    possible: tuple[float, int] = (
        0.0,
        0,
    )  # dollars and tokens that calls may have cost beside what rows tell
    human_answers: Sequence[HumanAnswer] = ()  # scored ones of the review desk
    seal: Sequence[SealLine] = ()  # of the plan and of the results
    drawn_plan: DrawnPlan | None = None  # of a job that may stop early
    looks: Sequence[StoredLook] = ()  # at such a job, in order
    _parts: dict[str, Any] = field(default_factory=dict)

    def part(self, section: "Section[Part]") -> Part:
        """The part of a section, computed once."""
        if section.name not in self._parts:
            self._parts[section.name] = section.compute(self)
        return cast(Part, self._parts[section.name])

    def collected(self, kind: type[Collected]) -> Collected:
        """The collector of that class, which has seen every row."""
        return next(collector for collector in self.collectors if isinstance(collector, kind))

    @property
    def planned_samples(self) -> int:
        """How many samples were planned; of a run from elsewhere those that its rows hold."""
        if is_imported(self.spec):
            return len(self.scores.samples)
        return self.planned // count_trials(self.spec, 1)

    def planned_of(self, group: int) -> int:
        """How many trials were planned of a model and an arm.

        Of a run from elsewhere nobody knows: those that its rows hold, and one of each sample without any.
        """
        if is_imported(self.spec):
            return int(np.maximum(self.scores.answered[group] + self.scores.missing[group], 1).sum())
        return self.planned_samples * self.spec.repeats_of(self.scores.groups[group][1])

    @property
    def stopped_early(self) -> StoredLook | None:
        """The look at which the job was decided and stopped; None where it was not."""
        return next((look for look in self.looks if look["decided"]), None)

    @property
    def has_stopped(self) -> bool:
        """Whether it was decided early, and has not been resumed since."""
        return self.status == "completed" and self.stopped_early is not None

    @property
    def models(self) -> list[str]:
        return [model.label for model in self.spec.models]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Generic[Part]):
    """A section: its part of the JSON document, and how it looks in every form.

    `fields` is the TypedDict of its top-level fields, which `compute` makes. Forms are made of the finished
    document alone: `view` gives the variables of its HTML template besides `report` (None: there is nothing
    to show), and `terminal` gives lines. Markdown is read off the page.
    The template is `html`, or the file `<name>.html.j2` beside the module of `compute`. A section without a
    template, or whose template another one includes, names that one in `shown_in`. Of a section
    `per_comparison`, `view` gives the variables by pair, and the page shows it within each comparison.
    `digest` says it in some words, for its folded line on a job's page.
    """

    name: str
    title: str
    question: str  # that it answers
    fields: type[Part]
    compute: Callable[[ReportInput], Part]
    place: int  # on the page, from the top
    behind: str = ""  # the field of the document behind which a package's fields stand; else at the end
    collector: Callable[[JobSpec, str], Collector] | None = None  # of a spec and its benchmark's name
    html: str = ""
    view: Callable[[Any], Mapping[Any, Any] | None] | None = None
    per_comparison: bool = False
    shown_in: str = ""
    terminal: Callable[[Any], Iterable[str]] | None = None
    digest: Callable[[Any], str] | None = None


SECTIONS: Registry[Section[Any]] = Registry(
    "gnomon.report.sections",
    "section of the report",
    dashes=False,
    group="gnomon.sections",
    accepts=lambda item: isinstance(item, Section),
)


def sections() -> list[Section[Any]]:
    """All sections, in the order of the page."""
    return sorted(SECTIONS, key=lambda section: section.place)


def pair_key(pair: Mapping[str, Any]) -> PairKey:
    """The pair that a part of a report is about."""
    return pair["model"], pair["baseline"], pair["variant"]


def interval(ends: tuple[float, float] | None) -> Interval:
    """Ends of an interval as JSON has them."""
    return None if ends is None else [float(ends[0]), float(ends[1])]


def by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts, largest first, equal ones by name.

    >>> list(by_count({"b": 1, "a": 1, "c": 2}))
    ['c', 'a', 'b']
    """
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
