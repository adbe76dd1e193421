"""Makes a job of its own of what was read from elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import check_imported

AGENT = "imported"  # the agent of arms that were run elsewhere
Ended = tuple[Row, Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A job that was run elsewhere: its spec, its samples, its rows with their traces."""

    spec: JobSpec
    refs: Sequence[SampleRef]
    ended: Sequence[Ended]


def run_of(ended: Sequence[Ended], *, name: str, primary: tuple[str, str] | None = None) -> Run:
    """A run made of rows; models, arms and repeats are those that the rows name.

    Raises:
        SpecError: there are no rows, a trial comes twice, a sample has two clusters or cells, the rows
            are of several benchmarks, an arm of `primary` is not among them, or a name holds a control
            character.
    """
    rows = [row for row, _ in ended]
    if not rows:
        raise SpecError("holds no rows", field="FILE")
    _check_unique(rows)
    benchmarks = sorted({row.benchmark for row in rows})
    if len(benchmarks) > 1:
        raise SpecError(f"rows are of several benchmarks: {', '.join(benchmarks)}", field="FILE")
    arms = list(dict.fromkeys(row.arm for row in rows))
    for arm in primary or ():
        if arm not in arms:
            raise SpecError(f"no arm {arm!r}; there are: {', '.join(arms)}", field="--primary")
    repeats = sorted({row.repeat for row in rows})
    rank = {repeat: at for at, repeat in enumerate(repeats)}
    spec = JobSpec.model_validate(
        {
            "name": name[:200],
            "benchmark": benchmarks[0],
            "models": [{"id": model} for model in dict.fromkeys(row.model for row in rows)],
            "arms": [{"name": arm, "agent": AGENT} for arm in arms],
            "repeats": len(repeats),
            "analysis": {"primary": primary} if primary else {},
        }
    )
    check_imported(spec)
    return Run(
        spec=spec,
        refs=list(_refs(rows)),
        ended=[(replace(row, repeat=rank[row.repeat]), trace) for row, trace in ended],
    )


def _check_unique(rows: Sequence[Row]) -> None:
    trials: set[tuple[str, str, str, int]] = set()
    for row in rows:
        key = (row.sample_id, row.model, row.arm, row.repeat)
        if key in trials:
            raise SpecError(
                f"sample {row.sample_id!r} stands twice under {row.model} / {row.arm}, repeat {row.repeat}; "
                "give each log its own arm, or each row its own repeat",
                field="FILE",
            )
        trials.add(key)


def _refs(rows: Sequence[Row]) -> Iterator[SampleRef]:
    refs: dict[str, SampleRef] = {}
    for row in rows:
        ref = SampleRef(sample_id=row.sample_id, task=row.task, cell=row.cell, cluster=row.cluster)
        if refs.setdefault(row.sample_id, ref) != ref:
            message = f"sample {row.sample_id!r} has two tasks, cells or clusters in different rows"
            raise SpecError(message, field="FILE")
    yield from refs.values()
