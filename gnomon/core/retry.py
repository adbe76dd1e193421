"""When a model's call is tried again: how often, after what pause, and for which faults."""

import math
import random
from typing import Annotated, Literal

from pydantic import Field

from gnomon.core.errors import ProviderFault
from gnomon.core.validation import AS_LIST, StrictModel

TransientCause = Literal["bad_response", "connection", "rate_limit", "server_error", "timeout"]
MAX_DOUBLINGS = 60  # of a pause; any cap is shorter


class RetryPolicy(StrictModel):
    """How a call is retried whose provider failed, where the same call may succeed later."""

    max_attempts: int = Field(
        default=4, ge=1, le=20, description="The most attempts of one call; a wait for a rate limit is none."
    )
    base_s: float = Field(
        default=1.0, ge=0, le=60, description="Seconds of the first pause; each later one is twice as long."
    )
    jitter: float = Field(
        default=0.5,
        ge=0,
        lt=1,
        description="Share of a pause that is left to chance, either way.",
    )
    cap_s: float = Field(
        default=600.0,
        ge=1,
        le=3_600,
        description="The most seconds of one wait, whatever the provider asks for.",
    )
    total_wait_s: float = Field(
        default=900.0,
        ge=0,
        le=86_400,
        description="Seconds after which a call fails that meets nothing but rate limits.",
    )
    final_causes: Annotated[tuple[TransientCause, ...], AS_LIST] = Field(
        default=(), description="Causes that are not tried again."
    )

    def is_transient(self, fault: ProviderFault) -> bool:
        """Whether the same call may succeed later."""
        return fault.transient and fault.cause not in self.final_causes

    def may_retry(self, fault: ProviderFault, attempt: int) -> bool:
        """Whether a call is tried again whose `attempt`, counted from 1, ended with that fault."""
        return attempt < self.max_attempts and self.is_transient(fault)

    def pause_s(self, attempt: int) -> float:
        """Seconds before the attempt that follows `attempt`, where the provider asks for none.

        >>> policy = RetryPolicy(jitter=0.0, cap_s=5.0)
        >>> [policy.pause_s(attempt) for attempt in (1, 2, 3, 9)]
        [1.0, 2.0, 4.0, 5.0]
        """
        backoff_s = min(self.base_s * 2.0 ** min(attempt - 1, MAX_DOUBLINGS), self.cap_s)
        return backoff_s * random.uniform(1.0 - self.jitter, 1.0 + self.jitter)

    def capped_s(self, asked_s: float) -> float:
        """Seconds that are waited where so many are asked for.

        >>> policy = RetryPolicy()
        >>> [policy.capped_s(asked_s) for asked_s in (5.0, 1e300, float("nan"), -3.0)]
        [5.0, 600.0, 600.0, 0.0]
        """
        return self.cap_s if math.isnan(asked_s) else min(max(asked_s, 0.0), self.cap_s)


DEFAULT_RETRY = RetryPolicy()
PREFLIGHT_RETRY = RetryPolicy(max_attempts=3, jitter=0.0, total_wait_s=60.0)
# Where a rate limit is met and the provider does not say for how long.
RATE_LIMIT_PAUSES = RetryPolicy(base_s=0.5, cap_s=30.0)


def is_default(policy: RetryPolicy) -> bool:
    """Whether a spec leaves it out: then its hash is that of specs from before there was a choice."""
    return policy == DEFAULT_RETRY


def changed_fields(policy: RetryPolicy) -> dict[str, object]:
    """What differs from the default, as plain data.

    >>> changed_fields(RetryPolicy(max_attempts=8))
    {'max_attempts': 8}
    """
    return policy.model_dump(mode="json", exclude_defaults=True)
