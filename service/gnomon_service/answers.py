"""Defines what the REST API answers, for its OpenAPI document and its client."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import WithJsonSchema
from typing_extensions import TypedDict

from gnomon.core.row import Row
from gnomon.fitness.table import Fitness

# The states that the store knows; it is not imported, as a client has no use for it.
JobStatus = Literal["preparing", "queued", "running", "completed", "cancelled", "failed"]
TrialState = Literal["pending", "leased", "done"]
CheckState = Literal["pending", "checking", "passed", "unconfirmed", "stopped"]
if TYPE_CHECKING:
    RowFields = Mapping[str, Any]
else:
    RowFields = Row  # the columns of a result are declared once: its schema is that of the row


# Whose a plug-in is: the package and version that brought it, or the file; null: it is Gnomon's own.
Origin = TypedDict("Origin", {"from": str | None})


class CountsView(TypedDict):
    """How many trials are planned, and ended how; `running` are those in workers’ hands."""

    planned: int
    scored: int
    model_failed: int
    infra_missing: int
    running: int


class PreflightView(TypedDict):
    """A model of a job: the state of its preflight, the provider's words where it failed, what a call in
    flight waits for and for how many seconds by now, and what was found out about the endpoint.
    """

    model: str
    state: CheckState
    cause: str
    error: str
    calls: int
    usd: float | None
    tokens: int | None
    waits_until: str | None
    waits_for: str
    asks_for: str
    asks_s: float | None
    fitness: Fitness | None


class AskedView(TypedDict):
    """A question as a model sees it: texts and pictures, these by the SHA-256 of their bytes."""

    sample_id: str
    task: str
    parts: list[dict[str, str]]


class UploadView(TypedDict):
    """An upload: `data` is what a spec calls it, `columns` have a value each, `read_as` says which of them is
    read as which. `questions` is null where rows have faults; the first of `faults` counts them.
    """

    data: str
    file: str
    columns: dict[str, str]
    read_as: dict[str, str]
    questions: int | None
    faults: list[str]
    preview: list[AskedView]


class FaultView(TypedDict):
    """Something wrong with the data of a sample."""

    sample_id: str
    kind: str
    detail: str


class FaultsView(TypedDict):
    """The number of a job's data faults, and the first of them."""

    count: int
    first: list[FaultView]


class UnreadView(TypedDict):
    """An arm of which most replies cannot be read: a `share` of the `n` that have ended, most of one kind."""

    model: str
    arm: str
    kind: str
    share: float
    n: int
    example: str
    text: str


class JobView(TypedDict):
    """A job as it is now; `usd` and `tokens` are null as soon as those of one trial are unknown."""

    id: str
    name: str
    status: JobStatus
    counts: CountsView
    stopped_early: bool
    not_run: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    usd: float | None
    tokens: int | None
    known_usd: float
    known_tokens: int
    waiting: NotRequired[list[str]]  # for what, in words; as the next two absent from older services
    posted_by: NotRequired[str]
    owner: NotRequired[str]
    possible_usd: float
    possible_tokens: int
    free_usd: float | None
    free_tokens: int | None
    error: str
    preflights: list[PreflightView]
    spec_hash: str
    spec: dict[str, Any]
    faults: FaultsView
    alerts: NotRequired[list[UnreadView]]  # of one job alone, not in lists


class JobList(TypedDict):
    """A page of jobs, newest first."""

    items: list[JobView]
    next_cursor: str | None


class MediaFreedView(TypedDict):
    """Media that were deleted, or would be; put off while a job is open."""

    files: int
    bytes: int
    is_put_off: bool


class DeletionView(TypedDict):
    """What was deleted with a job, or would be, and jobs whose specs name it."""

    job_id: str
    name: str
    trials: int
    results: int
    reviews: int
    named_by: list[str]
    media: MediaFreedView


class KeyView(TypedDict):
    """An API key, and what its jobs cost in this month: open ones up to their limits; null: no budget."""

    name: str
    owner: str
    scope: Literal["read", "run"]
    until: str | None
    usd_budget: float | None
    usd: float
    tokens_budget: int | None
    tokens: int
    jobs: int


class DoneView(TypedDict):
    """What a key did with a job: when first and last, and how often."""

    job_id: str
    job_name: str
    who: str
    action: Literal["posted", "cancelled", "resumed", "deleted", "looked"]
    first_at: str
    last_at: str
    times: int


class DeletedView(TypedDict):
    """What stays of a job that was deleted, beside its seal."""

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


class KeysView(TypedDict):
    """The keys, the last of what was done with jobs, and the jobs that were deleted last."""

    keys: list[KeyView]
    done: list[DoneView]
    deleted: list[DeletedView]


class EstimateView(TypedDict):
    """The size of a job; `usd` is what its plan expects it to cost, null where some price is unknown."""

    samples: int
    trials: int
    usd: float | None
    usd_limit: float | None


class SubmittedView(TypedDict):
    """A job that was queued, and what to know before anything is spent."""

    id: str
    status: JobStatus
    planned_trials: int
    estimate: EstimateView
    warnings: list[str]


class TrialView(TypedDict):
    """A trial: its plan, its state, its row once it is finished, and its trace."""

    trial_id: str
    job_id: str
    sample_id: str
    task: str
    cell: str
    cluster: str
    model: str
    arm: str
    repeat: int
    state: TrialState
    attempt: int
    row: RowFields | None
    trace: dict[str, Any] | None


class RowList(TypedDict):
    """A page of result rows, in the order in which they were finished."""

    items: list[RowFields]
    next_cursor: str | None


class BenchmarkInfo(Origin):
    """A benchmark that a spec may name."""

    name: str
    description: str
    version: str
    tasks: list[str]
    scenes: list[str]
    variants: list[str]
    needs_data: bool
    headline: str


class ToolInfo(Origin):
    """A tool that an arm may have: description and argument schema as a model gets them, and their hash."""

    name: str
    description: str
    parameters: dict[str, Any]
    contract: str


class AgentInfo(Origin):
    """An agent that an arm may name."""

    name: str
    description: str


class PresetInfo(Origin):
    """A preset of arms, with the JSON schema of its options."""

    name: str
    description: str
    options: dict[str, Any]


class BenchmarkList(TypedDict):
    """All benchmarks."""

    items: list[BenchmarkInfo]
    next_cursor: None


class ToolList(TypedDict):
    """All tools."""

    items: list[ToolInfo]
    next_cursor: None


class AgentList(TypedDict):
    """All agents."""

    items: list[AgentInfo]
    next_cursor: None


class PresetList(TypedDict):
    """All presets of arms."""

    items: list[PresetInfo]
    next_cursor: None


class WorkerView(TypedDict):
    """A live worker, and the shard that it runs."""

    name: str
    host: str
    pid: int
    state: str
    shard: str | None
    seen_at: str


class TripSubmitted(TypedDict):
    """A planning request that was queued, and the address of its events."""

    id: str
    status: JobStatus
    events: str


class TripView(TypedDict):
    """A planned trip; without a plan, `reason` says why (null while the job runs)."""

    id: str
    status: JobStatus
    reason: str | None
    plan: NotRequired[dict[str, Any]]
    verification: NotRequired[dict[str, Any]]
    request: NotRequired[dict[str, Any]]
    open: NotRequired[dict[str, Any]]
    steps: NotRequired[dict[str, Any]]
    alternatives: NotRequired[dict[str, Any]]
    quality: NotRequired[list[dict[str, Any]]]


class PlanPoint(TypedDict):
    """Where a check does not hold, and why."""

    where: str
    reason: str
    evidence: Any


class PlanCheckView(TypedDict):
    """One check of a plan."""

    code: str
    label: str
    state: Literal["holds", "fails", "unchecked", "remark", "does_not_apply"]
    note: str
    points: list[PlanPoint]
    evidence: list[str]


class CheckedPlanView(TypedDict):
    """A plan with each of its checks."""

    form: str
    passes: bool
    summary: str
    counts: dict[str, int]
    checks: list[PlanCheckView]


class AgreementView(TypedDict):
    """How far the reviewers of a queue agree."""

    n: int
    share: float | None
    coefficient: float | None
    ci95: list[float] | None
    method: str


class ReviewQueueView(TypedDict):
    """A review queue with all its reviews."""

    name: str
    job_id: str
    mode: str
    choice: Any
    samples: list[str]
    judged: int
    judged_twice: int
    disagreements: list[Any]
    agreement: AgreementView
    reviewers: list[Any]
    reviews: list[Any]
    unanimous: int


class Health(TypedDict):
    """The process answers."""

    status: str


class Readiness(TypedDict):
    """Whether store and queue answer, and which does not."""

    status: str
    store: str
    redis: str
    sqlite_version: NotRequired[str]
    sqlite_wal_race: NotRequired[str]


Report = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "description": "The report; docs/report.md describes its fields."}),
]
ToolResult = Annotated[
    dict[str, Any], WithJsonSchema({"type": "object", "description": "What the tool answers."})
]
BatchResult = Annotated[
    dict[str, list[Any]],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "array"},
            "description": "The columns of the batch form's result; null where a row has no answer.",
        }
    ),
]

# What each route answers as JSON, by its verb and path.
ANSWERS: Mapping[str, Any] = {
    "POST /v1/jobs": SubmittedView,
    "GET /v1/jobs": JobList,
    "GET /v1/jobs/{job_id}": JobView,
    "POST /v1/jobs/{job_id}/cancel": JobView,
    "POST /v1/jobs/{job_id}/resume": JobView,
    "DELETE /v1/jobs/{job_id}": DeletionView,
    "POST /v1/uploads/{name}": UploadView,
    "GET /v1/keys": KeysView,
    "GET /v1/jobs/{job_id}/trials": RowList,
    "GET /v1/jobs/{job_id}/report": Report,
    "GET /v1/trials/{trial_id}": TrialView,
    "GET /v1/reviews/{queue}": ReviewQueueView,
    "GET /v1/benchmarks": BenchmarkList,
    "GET /v1/tools": ToolList,
    "GET /v1/agents": AgentList,
    "GET /v1/arms/presets": PresetList,
    "POST /v1/tools/{name}": ToolResult,
    "POST /v1/tools/{name}/batch": BatchResult,
    "POST /v1/itineraries": TripSubmitted,
    "POST /v1/itineraries/check": CheckedPlanView,
    "GET /v1/itineraries/{job_id}": TripView,
    "GET /v1/workers": list[WorkerView],
    "GET /healthz": Health,
    "GET /readyz": Readiness,
}
