"""The records that the store hands out. Times are UTC in ISO 8601."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from gnomon.core.model import SLOW_S
from gnomon.core.moments import moment_text
from gnomon.core.row import Row
from gnomon.core.sample import DataFault
from gnomon.fitness.table import Fitness
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import Trial
from gnomon_workers.budget.usage import NO_USAGE, Usage

JobStatus = Literal["preparing", "queued", "running", "completed", "cancelled", "failed"]
TrialState = Literal["pending", "leased", "done"]
CheckState = Literal["pending", "checking", "passed", "unconfirmed", "stopped"]

OPEN = ("preparing", "queued", "running")  # statuses of jobs that may go on
PREPARE = -1  # in place of a shard: the trials of a job are to be made
SHORT_WAIT_S = 2.0  # a shorter one is not told
QUIET_S = 10.0  # for which no trial may end before that is told

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many trials are planned, how many ended how, and how many run now."""

    planned: int
    scored: int
    model_failed: int
    infra_missing: int
    running: int

    @property
    def done(self) -> int:
        return self.scored + self.model_failed + self.infra_missing


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """A job's model: the state of its preflight, the last fault with the provider's words, and what the
    preflight calls have cost (None where the provider does not say).

    `unconfirmed`: the preflight failed in passing, and the job went on; `stopped`: it is called no more.
    `waits_until`: the provider has been asked too often, said so in the words of `waits_for`, and is not
    called before; or was not, when the job ended. None: nothing waits for it. `asks_for`: what a call in
    flight waits for, `asks_s` seconds by now. `fitness`: what the preflight has found out; None: not known.
    """

    model: str
    state: CheckState
    cause: str
    error: str
    calls: int
    usd: float | None
    tokens: int | None
    waits_until: str | None = None
    waits_for: str = ""
    asks_for: str = ""
    asks_s: float | None = None
    fitness: Fitness | None = None

    @property
    def waiting(self) -> str:
        """What a call in flight waits for, in words; empty in its first seconds, and where there is none."""
        if self.asks_s is None or self.asks_s < SHORT_WAIT_S:
            return ""
        is_slow = ", no reply yet" if self.asks_s >= SLOW_S else ""
        return f"waiting for {self.model}: {self.asks_for}, {self.asks_s:.0f} s{is_slow}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job as it is now. `usd` and `tokens` are None as soon as one trial's share is unknown."""

    id: str
    name: str
    status: JobStatus
    spec: JobSpec
    spec_hash: str
    created_at: str
    started_at: str | None
    finished_at: str | None
    counts: Counts
    usd: float | None
    tokens: int | None
    known_usd: float  # the part that providers have told
    known_tokens: int
    possible_usd: (
        float  # the most that calls may have cost besides: of processes that died or run, and untold
    )
    possible_tokens: int
    shards: int
    faults: tuple[DataFault, ...]
    error: str  # why it failed; empty otherwise
    checks: tuple[ModelCheck, ...] = ()  # of its models, without those that make no calls
    posted_by: str = ""  # the name of the key with which it was posted
    owner: str = ""  # of that key
    quiet_s: float | None = None  # since a trial of it ended, or the first was begun; None: none runs
    is_decided: bool = False  # a look has stopped it early, though it may have been resumed since

    @property
    def waiting(self) -> list[str]:
        """What it waits for, in words: calls of its preflight, else a result, where none came for long."""
        asked = [check.waiting for check in self.checks if check.waiting]
        is_told = asked or any(check.waits_until for check in self.checks)
        # What is longer than a trial may take was before the job was resumed, or its worker has died.
        if is_told or self.quiet_s is None or not QUIET_S <= self.quiet_s <= self.spec.limits.trial_seconds:
            return asked
        models = [model.label for model in self.spec.called_models.values()] or ["tools and agents"]
        more = f" and {len(models) - 1} more" if len(models) > 1 else ""
        what = "next result" if self.counts.done else "first result"
        return [f"waiting for {models[0]}{more}: {what}, {self.quiet_s:.0f} s"]

    @property
    def free(self) -> Usage:
        """What the limits leave beside what is and may be spent; None where there is no limit."""
        limits = self.spec.limits
        usd = None if limits.usd is None else max(0.0, limits.usd - self.known_usd - self.possible_usd)
        left = None if limits.tokens is None else limits.tokens - self.known_tokens - self.possible_tokens
        return Usage(usd, None if left is None else max(0, left))

    def in_flight(self, workers: "Iterable[WorkerRecord]") -> int:
        """How many trials run: of what its workers hold, among these, some wait for their turn."""
        of_job = sum((worker.shard or "").startswith(f"{self.id}/") for worker in workers)
        return min(self.counts.running, self.spec.concurrency * max(1, of_job))

    @property
    def not_run(self) -> int:
        """Trials that a job which stopped early did without: neither missing nor waiting."""
        has_stopped = self.is_decided and self.status == "completed"
        return self.counts.planned - self.counts.done - self.counts.running if has_stopped else 0


class JobState(NamedTuple):
    """What a job's results were at a time: it changes with each that comes or, as a job is resumed, goes."""

    status: JobStatus
    done: int
    last_seq: int  # the number of the newest result; 0 before the first
    open_checks: int  # preflights that have not ended
    seal_lines: int

    @property
    def stamp(self) -> str:
        """The state as text."""
        return "-".join(map(str, self))


class ReplyCount(NamedTuple):
    """How many replies of a model under an arm are in a state: the number of the last, and one trial's id."""

    model: str
    arm: str
    state: str | None  # None: not recorded
    trials: int
    last_seq: int
    trial_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDigest:
    """What a list needs of a job to choose and to count it. Times are seconds since 1970."""

    id: str
    number: int  # order of arrival
    name: str
    status: JobStatus
    benchmark: str
    created_s: float
    finished_s: float | None
    planned: int
    processed: int
    infra_missing: int
    known_usd: float
    is_budget_exhausted: bool

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTrials:
    """Trials of a job that have no outcome for one reason: how many, one of them, and what was said of it."""

    job_id: str
    cause: str  # the rows' stop reason
    trials: int
    error: str
    trial_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedModel:
    """A job's model that is called no more, with the cause and the provider's words."""

    job_id: str
    job_name: str
    model: str
    cause: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What is deleted with a job, and the jobs whose specs name it, at most some of them."""

    job_id: str
    name: str
    trials: int
    results: int
    reviews: int
    named_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedJob:
    """What stays of a job that was deleted. `deleted_by`: the name of a key, or why it was without one."""

    COUNTED: ClassVar[tuple[str, ...]] = (
        *("name", "benchmark", "status", "spec_hash", "posted_by", "owner", "planned", "scored"),
        *("model_failed", "infra_missing", "known_usd", "known_tokens", "deleted_by"),
    )
    id: str
    name: str
    benchmark: str
    status: JobStatus
    spec_hash: str
    posted_by: str
    owner: str
    planned: int
    scored: int
    model_failed: int
    infra_missing: int
    known_usd: float
    known_tokens: int
    created_at: str
    finished_at: str | None
    deleted_at: str
    deleted_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """A trial with all that is known of it."""

    trial: Trial
    state: TrialState
    attempt: int
    row: Row | None
    trace: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRecord:
    """A worker that was seen lately; `shard` is what it runs, as `job/shard`, or None."""

    name: str
    host: str
    pid: int
    state: str
    shard: str | None
    seen_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A trial handed out. `attempt` counts hand-outs that were not given back; `token` only ever rises.

    Whoever writes with a token that is no longer the trial's is refused. `counted` is what of the trial's
    usage the job's counters hold already, of its checkpoints.
    """

    trial: Trial
    attempt: int
    token: int
    counted: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A stretch of a list, and where the next one starts; None at the end."""

    items: tuple[T, ...]
    next_cursor: str | None


def iso(seconds: float | None) -> str | None:
    """Seconds since 1970 as UTC in ISO 8601, to milliseconds.

    >>> iso(0.5), iso(None)
    ('1970-01-01T00:00:00.500Z', None)
    """
    return None if seconds is None else moment_text(datetime.fromtimestamp(seconds, UTC))
