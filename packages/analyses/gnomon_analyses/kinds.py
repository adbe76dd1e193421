"""The kinds of analysis: labels that a judge model gives to traces, figures of rows, figures of one job."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon_tools.core.registry import Registry

if TYPE_CHECKING:
    from gnomon_analyses.stored_job import StoredJob

GroupOf = Callable[[Row], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledByJudge:
    """A judge reads a trial's trace and says of each label whether it holds.

    `labels` are names with their definitions. `only_wrong`: trials that scored below 0.5 alone are read.
    `left_out` names labels that a task's questions cannot show. Fewer than `least` trials are refused. With
    `shows_truth` a judge gets the right answer and the reply, and is held against the scorer and labels.
    """

    name: str
    description: str
    benchmarks: tuple[str, ...]
    labels: Mapping[str, str]
    only_wrong: bool
    least: int = 20
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shows_truth: bool = False

    def labels_for(self, task: str) -> tuple[str, ...]:
        return tuple(name for name in self.labels if name not in self.left_out.get(task, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedFromRows:
    """A figure made of rows, grouped by `group`: `cell`, or `question_type` of the published item.

    `count` gets the rows and the group of each, and refuses too few models or samples.
    """

    name: str
    description: str
    benchmarks: tuple[str, ...]
    group: str
    count: Callable[[Sequence[Row], GroupOf], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedFromJob:
    """A figure of one job: of what its report compares, and where it needs them of its traces.

    `count` refuses a job that cannot show it; `lines` put its result in words.
    """

    name: str
    description: str
    count: "Callable[[StoredJob], dict[str, Any]]"
    lines: Callable[[dict[str, Any]], Iterable[str]]


Analysis = LabelledByJudge | ComputedFromRows | ComputedFromJob
ANALYSES: Registry[Analysis] = Registry("gnomon_analyses.analyses", "analysis", dashes=False)


def need(what: str, number: int, least: int) -> None:
    """Refuse an analysis that has too few trials, models or tasks.

    >>> need("models", 2, 5)
    Traceback (most recent call last):
    gnomon.core.errors.SpecError: JOB: 2 models; this analysis needs 5 or more

    Raises:
        SpecError: there is too little.
    """
    if number < least:
        raise SpecError(f"{number:,} {what}; this analysis needs {least} or more", field="JOB")
