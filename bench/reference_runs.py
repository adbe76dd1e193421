"""Runs the reference model under any constants, as trials of a job, on several processes."""

import asyncio
import functools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from folds import Scores, Values
from rich.progress import Progress

from agents.models.reference.constants import SHIPPED, Constants
from agents.models.reference.model import ReferenceModel
from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import SampleSet
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.run_trial import JobContext, run_trial
from gnomon.trials.trial_plan import expand_trials

BATCH = 4  # questions a process takes at a time


class Watched:
    """Constants that note which of them were read."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self.read: dict[str, float] = {}

    def __getattr__(self, name: str) -> float:
        value = getattr(self._constants, name)
        self.read[name] = value
        return float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A trial's row, and the constants that it depended on."""

    row: Row
    read: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A question under one arm with these constants."""

    index: int
    arm: str
    values: Values


@dataclass(slots=True, kw_only=True)
class Runs:
    """Every answer so far; a question is asked again only if a constant that its answer read is another."""

    spec: JobSpec
    refs: Sequence[SampleRef]
    pool: ProcessPoolExecutor
    progress: Progress
    trials: int = 0
    _known: dict[tuple[int, str], list[Answered]] = field(default_factory=dict)

    def rows(self, arm: str, values: Sequence[Values]) -> list[Row]:
        """The row of each question under an arm, with its own constants (shipped where it gives none)."""
        wanted = [Wanted(index=index, arm=arm, values=given) for index, given in enumerate(values)]
        fresh = [want for want in wanted if self._find(want) is None]
        if fresh:
            bar = self.progress.add_task(arm, total=len(fresh))
            parts = [fresh[start : start + BATCH] for start in range(0, len(fresh), BATCH)]
            for done in as_completed([self.pool.submit(_answer, part) for part in parts]):
                for want, answered in done.result():
                    self._known.setdefault((want.index, want.arm), []).append(answered)
                    self.trials += 1
                    self.progress.advance(bar)
            self.progress.remove_task(bar)
        return [self._row(want) for want in wanted]

    def scores(self, arm: str, values: Values) -> Scores:
        """The score of each question under the same constants."""
        return scores_of(self.rows(arm, [values] * len(self.refs)))

    def _find(self, want: Wanted) -> Row | None:
        settled = _constants(want.values)
        for known in self._known.get((want.index, want.arm), ()):
            if all(getattr(settled, name) == value for name, value in known.read.items()):
                return known.row
        return None

    def _row(self, want: Wanted) -> Row:
        row = self._find(want)
        if row is None:
            raise RuntimeError(f"question {want.index} under {want.arm} has no row")
        return row


def scores_of(rows: Sequence[Row]) -> Scores:
    """Scores as numbers; a missing one counts as 0, as the table says."""
    return np.array([row.score or 0.0 for row in rows])


def open_samples(spec: JobSpec, folder: Path) -> SampleSet:
    """The selected questions; pictures and what was read from them are kept in `folder`."""
    data = Path(spec.data) if spec.data else None
    media = MediaStore(folder)
    return spec.plugin().open(data=data, select=spec.select, protocol=spec.protocol, media=media)


def start(spec: JobSpec, folder: Path) -> None:
    """Get a process ready to answer."""
    _process["spec"], _process["samples"] = spec, open_samples(spec, folder)
    _process["bench"] = JobContext(spec=spec, benchmark=spec.plugin(), media=MediaStore(folder))


_process: dict[str, Any] = {}  # what `start` left for the questions to come


def _answer(part: Sequence[Wanted]) -> list[tuple[Wanted, Answered]]:
    return asyncio.run(_answers(part))


async def _answers(part: Sequence[Wanted]) -> list[tuple[Wanted, Answered]]:
    spec, samples = _process["spec"], _process["samples"]
    found = []
    for want in part:
        ref = samples.refs[want.index]
        trial = next(trial for trial in _trials(spec, ref) if trial.arm == want.arm)
        watched = Watched(_constants(want.values))
        row, _ = await run_trial(
            trial,
            bench=_process["bench"],
            sample=functools.partial(samples.get, ref.sample_id),
            agent=AGENTS.get(spec.arm(want.arm).agent),
            model=ReferenceModel(spec.models[0], cast("Constants", watched)),
        )
        found.append((want, Answered(row=row, read=watched.read)))
    return found


def _trials(spec: JobSpec, ref: SampleRef) -> Iterator[Any]:
    return expand_trials("reference", spec, [ref])


def _constants(values: Values) -> Constants:
    return replace(SHIPPED, **values)
