"""Makes a job of its own of what was read from elsewhere."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.core.clusters import filled
from gnomon.core.errors import SpecError
from gnomon.core.near_equal import factor_faults
from gnomon.core.row import Row
from gnomon.core.sample import DataFault, SampleRef
from gnomon.exchange.asked_elsewhere import AskedElsewhere
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import check_imported

AGENT = "imported"  # the agent of arms that were run elsewhere
UNKNOWN = "unknown"  # what nobody here can know of a job that was run elsewhere
UNSCORED = ("atif:unscored", "chat:unscored", "vlmevalkit:unscored")  # of formats that need not have scores
LEFT_OUT = ("inspect:invalidated",)  # why a trial is none: it is read to be counted, and not stored
Ended = tuple[Row, Mapping[str, Any] | None]
"""A trial that was read from a file: its row, and its trace where the file holds one."""


def is_imported(spec: JobSpec) -> bool:
    """Whether a job of that spec was run elsewhere: what it misses cannot be run here."""
    return any(arm.agent == AGENT for arm in spec.arms)


def asked_and_scored(spec: JobSpec) -> tuple[str, str]:
    """The protocol of a job's prompts and its scoring; UNKNOWN of one that was run elsewhere."""
    return (UNKNOWN, UNKNOWN) if is_imported(spec) else (spec.protocol, spec.scoring)


def arms_from_elsewhere(repeats: Mapping[str, int]) -> list[dict[str, Any]]:
    """Arms of a spec that were run elsewhere, each with its repeats where others have more."""
    most = max(repeats.values())
    return [
        {"name": arm, "agent": AGENT, **({"repeats": times} if times < most else {})}
        for arm, times in repeats.items()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A job that was run elsewhere: its spec, its samples, its rows with their traces.

    `ended` is read again whenever it is gone through, so that no more than one trace is held at a time.
    `missing` and `left_out` count trials by their stop reason: those without a score, and those that are not
    among `trials`. `faults` tell of near-equal questions, which share a cluster.
    """

    spec: JobSpec
    refs: Sequence[SampleRef]
    ended: Iterable[Ended]
    trials: int
    missing: Mapping[str, int]
    left_out: Mapping[str, int]
    faults: Sequence[DataFault] = ()


@dataclass(frozen=True, slots=True)
class Again:
    """What `read` gives, read anew each time it is gone through."""

    read: Callable[[], Iterable[Ended]]

    def __iter__(self) -> Iterator[Ended]:
        return iter(self.read())


class NothingLeft(SpecError):
    """Every trial is left out; `left_out` counts them by their stop reason."""

    def __init__(self, left_out: Mapping[str, int]) -> None:
        count = sum(left_out.values())
        super().__init__(f"{count:,} of {count:,} trials are left out: {', '.join(left_out)}", field="FILE")
        self.left_out = left_out


def run_of(
    files: Iterable[tuple[str, Iterable[Ended]]], *, name: str, primary: tuple[str, str] | None = None
) -> Run:
    """A run made of the rows of files, each with its name; models, arms and repeats are those that the rows
    name. `files` are gone through once here, and again by whoever stores the run.

    Raises:
        NothingLeft: all rows are left out.
        SpecError: there are no rows, a trial comes twice, a sample has two clusters or cells, the rows
            are of several benchmarks, an arm of `primary` is not among them, or a name holds a control
            character.
    """
    seen = _Seen()
    for file, ended in files:
        for row, trace in ended:
            seen.add(row, file, trace)
    if not seen.trials and seen.left_out:
        raise NothingLeft(seen.left_out)
    if not seen.trials:
        raise SpecError("holds no rows", field="FILE")
    if seen.scored == 0 and seen.unscored:
        raise SpecError(f"no trial has a score ({seen.unscored}); name its field by --scorer", field="FILE")
    benchmarks = sorted(seen.benchmarks)
    if len(benchmarks) > 1:
        raise SpecError(f"rows are of several benchmarks: {', '.join(benchmarks)}", field="FILE")
    for arm in primary or ():
        if arm not in seen.arms:
            raise SpecError(f"no arm {arm!r}; there are: {', '.join(seen.arms)}", field="--primary")
    rank = {repeat: at for at, repeat in enumerate(sorted(set().union(*seen.arms.values())))}
    spec = JobSpec.model_validate(
        {
            "name": name[:200],
            "benchmark": benchmarks[0],
            "models": [{"id": model} for model in seen.models],
            "arms": arms_from_elsewhere({arm: 1 + rank[max(seen.arms[arm])] for arm in seen.arms}),
            "repeats": len(rank),
            "analysis": {"primary": primary} if primary else {},
        }
    )
    check_imported(spec)
    near_equal, faults = seen.asked.near_equal()
    refs = near_equal.joined(
        [replace(ref, cluster=filled(ref.cluster, ref.sample_id)) for ref in seen.refs.values()]
    )
    clusters = {ref.sample_id: ref.cluster for ref in refs}
    return Run(
        spec=spec,
        refs=refs,
        ended=Again(
            lambda: (
                (replace(row, repeat=rank[row.repeat], cluster=clusters[row.sample_id]), trace)
                for _, ended in files
                for row, trace in ended
                if row.stop_reason not in LEFT_OUT
            )
        ),
        trials=len(seen.trials),
        missing=seen.missing,
        left_out=seen.left_out,
        faults=[*faults, *factor_faults(refs)],
    )


class _Seen:
    """What the rows so far have named; rows themselves are not kept."""

    def __init__(self) -> None:
        self.trials: set[tuple[str, str, str, int]] = set()
        self.refs: dict[str, SampleRef] = {}
        self.files: dict[str, str] = {}  # by sample, the one that named it first
        self.models: dict[str, None] = {}
        self.arms: defaultdict[str, set[int]] = defaultdict(set)  # with their repeats
        self.benchmarks: set[str] = set()
        self.scored = 0
        self.unscored = ""  # the reason that a format gives for trials without a score
        self.missing: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.asked = AskedElsewhere()

    def add(self, row: Row, file: str, trace: Mapping[str, Any] | None) -> None:
        """Take a row of that file in, and what its trace says was asked.

        Raises:
            SpecError: its trial came before, or its sample came with another task, cell or cluster.
        """
        if row.stop_reason in LEFT_OUT:
            self.left_out[row.stop_reason] += 1
            return
        trial = (row.sample_id, row.model, row.arm, row.repeat)
        if trial in self.trials:
            raise SpecError(
                f"sample {row.sample_id!r} stands twice under {row.model} / {row.arm}, repeat {row.repeat}; "
                "give each log its own arm, or each row its own repeat",
                field="FILE",
            )
        self.trials.add(trial)
        self.asked.add(row.sample_id, trace)
        ref = SampleRef(sample_id=row.sample_id, task=row.task, cell=row.cell, cluster=row.cluster)
        first_file = self.files.setdefault(row.sample_id, file)
        first = self.refs.setdefault(row.sample_id, ref)
        for what, option in (("cluster", "--cluster"), ("cell", "--cell"), ("task", "--cell")):
            values = (getattr(first, what), getattr(ref, what))
            if values[0] != values[1]:
                raise SpecError(
                    f"sample {row.sample_id!r} has the {what} {values[0]!r} in {first_file} and "
                    f"{values[1]!r} in {file}, and may have only one; name a "
                    f"field that is the same in both by {option}",
                    field="FILE",
                )
        self.models[row.model] = None
        self.arms[row.arm].add(row.repeat)
        self.benchmarks.add(row.benchmark)
        self.scored += row.score is not None
        if row.score is None:
            self.missing[row.stop_reason] += 1
            if row.stop_reason in UNSCORED:
                self.unscored = row.stop_reason
