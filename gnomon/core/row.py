"""Row: a finished trial as it is stored, counted and handed out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from gnomon.core.score import Outcome

ADAPTER = "adapter:"  # before the name of what a provider's adapter changed in a request: a flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One result. `usd` and the token counts are None where unknown; `score` is None only when missing.

    `error` is what the provider, the data or Gnomon said where a trial did not come to a score, without
    secrets and shortened. `tools_offered` counts the tools that fitted the sample, None where the model was
    not asked.
    """

    job_id: str
    trial_id: str
    benchmark: str
    task: str
    cell: str
    sample_id: str
    cluster: str
    model: str
    arm: str
    repeat: int
    outcome: Outcome
    stop_reason: str
    score: float | None
    metrics: Mapping[str, float | str | None] = field(default_factory=dict)
    answer: str | None = None
    flags: tuple[str, ...] = ()
    model_calls: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    tools_used: Mapping[str, Mapping[str, int]] = field(
        default_factory=dict
    )  # by tool: calls, bad_arguments, errors
    cache_hits: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None  # of the prompt's, from the provider's cache
    reasoning_tokens: int | None = None  # of the completion's
    usd: float | None = None
    wall_s: float = 0.0
    attempt: int = 1
    error: str = ""
    tools_offered: int | None = None


COLUMNS = tuple(f.name for f in fields(Row))
