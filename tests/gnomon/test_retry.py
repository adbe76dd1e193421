"""One policy says when a call is tried again; a spec may set it, and one that does not keeps its hash."""

from typing import Any

import pytest

from gnomon.core.errors import ProviderFault, SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.retry import PREFLIGHT_RETRY, RATE_LIMIT_PAUSES, RetryPolicy, changed_fields
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec

SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "models": [{"id": "m"}],
    "arms": [{"name": "raw", "agent": "direct"}],
}


def test_a_spec_without_a_policy_has_the_hash_it_had_before_there_was_one() -> None:
    for retry in ({}, {"retry": {}}, {"retry": {"max_attempts": 4, "final_causes": []}}):
        spec = JobSpec.model_validate(SPEC | retry)
        assert stable_hash(spec.model_dump(mode="json")) == "f9f9ffb0ea8e2e21ad88"
        assert "retry" not in spec.model_dump_json()
    other = JobSpec.model_validate(SPEC | {"retry": {"cap_s": 5}})
    assert stable_hash(other.model_dump(mode="json")) != "f9f9ffb0ea8e2e21ad88"
    assert JobSpec.model_validate_json(other.model_dump_json()) == other


@pytest.mark.parametrize(
    ("retry", "says"),
    [
        ({"max_attempts": 0}, "retry.max_attempts: .*greater than or equal to 1"),
        ({"max_attempts": 21}, "retry.max_attempts: .*less than or equal to 20"),
        ({"cap_s": 0.5}, "retry.cap_s: .*greater than or equal to 1"),
        ({"final_causes": "timeout"}, "retry.final_causes: must be a list"),
        ({"jitter": 1}, "retry.jitter: .*less than 1"),
        ({"base_s": float("nan")}, "retry.base_s: .*finite"),
        ({"total_wait_s": 1e9}, "retry.total_wait_s: .*less than or equal to 86,400"),
        ({"tries": 3}, "retry.tries: not permitted; allowed here: max_attempts, base_s"),
        ({"final_causes": ["auth"]}, "retry.final_causes.0: .*'bad_response', 'connection'"),
    ],
)
def test_a_policy_beyond_its_bounds_is_refused_by_field(retry: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse_spec(SPEC | {"retry": retry}, agents=("direct",))


def test_pauses_double_up_to_the_cap_however_many_there_are() -> None:
    pauses = [PREFLIGHT_RETRY.pause_s(attempt) for attempt in (1, 2)]
    assert pauses == [1.0, 2.0]
    for attempt, middle in ((1, 0.5), (2, 1.0), (7, 30.0), (100_000, 30.0)):
        drawn = [RATE_LIMIT_PAUSES.pause_s(attempt) for _ in range(100)]
        assert 0.5 * middle <= min(drawn) < max(drawn) <= 1.5 * middle


def test_a_fault_is_final_where_the_provider_or_the_policy_says_so() -> None:
    passing = ProviderFault("x", cause="timeout")
    assert [RetryPolicy().may_retry(passing, attempt) for attempt in (1, 3, 4)] == [True, True, False]
    assert not RetryPolicy().may_retry(ProviderFault("x", cause="auth", transient=False), 1)
    assert not RetryPolicy(final_causes=("timeout",)).may_retry(passing, 1)


def test_what_differs_from_the_default_is_listed_alone() -> None:
    assert changed_fields(RetryPolicy()) == {}
    assert changed_fields(RetryPolicy(cap_s=5, final_causes=("timeout",))) == {
        "cap_s": 5.0,
        "final_causes": ["timeout"],
    }
