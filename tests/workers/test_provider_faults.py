"""Whatever a provider answers over HTTP, each trial ends with its own cause, and no row sinks its batch."""

import json
import re
from pathlib import Path
from typing import Any

from gnomon_workers.store import Store
from tests.agents.conftest import serving
from tests.workers.conftest import BOTH, create
from tests.workers.tiny_worker import context_of, run_job


def said(**message: Any) -> str:
    """A well-formed completion."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": None, **message}}]})


def calling(*calls: object) -> str:
    return said(tool_calls=list(calls))


def call(call_id: object, name: object, arguments: object = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


SAID = ("model_failed", 0.0)
FAULTS: dict[str, tuple[int, Any, str, float | None, str]] = {  # status, body; outcome, score, stop reason
    "429": (429, {"error": {"message": "slow"}}, "infra_missing", None, "provider:rate_limit"),
    "quota": (429, {"error": {"code": "insufficient_quota"}}, "infra_missing", None, "provider:quota"),
    "500": (500, {"error": {"message": "boom"}}, "infra_missing", None, "provider:server_error"),
    "garbage": (200, "<html>certainly no JSON", "infra_missing", None, "provider:bad_response"),
    "nothing": (200, "", "infra_missing", None, "provider:bad_response"),
    "NaN": (200, '{"choices": NaN}', "infra_missing", None, "provider:bad_response"),
    "nested": (200, "[" * 100_000, "infra_missing", None, "provider:bad_response"),
    "NaN usage": (
        200, said(content="A")[:-1] + ', "usage": {"prompt_tokens": NaN}}', "scored", 1.0, "answered",
    ),
    "right": (200, said(content="A"), "scored", 1.0, "answered"),
    "wrong": (200, said(content="B"), "scored", 0.0, "answered"),
    "empty": (200, said(content=""), *SAID, "no_answer"),
    "refused": (200, said(refusal="I will not"), *SAID, "model:refused"),
    "ten megabytes": (200, said(content="A" * 10_000_000), *SAID, "no_answer"),
    "surrogate": (200, said(content="\ud800"), *SAID, "no_answer"),
    "NUL": (200, said(content="A\0"), *SAID, "no_answer"),
    "no such tool": (200, calling(call("1", "nosuch")), *SAID, "max_turns"),
    "one id twice": (200, calling(call("1", "a"), call("1", "b")), *SAID, "max_turns"),
    "ids that are none": (200, calling(call(None, None, None), call(7, 7, 7)), *SAID, "max_turns"),
    "broken arguments": (200, calling(call("1", "\ud800\0", '{"a": NaN')), *SAID, "max_turns"),
}  # fmt: skip
CUT = len(FAULTS)


@BOTH
def test_each_trial_ends_with_its_own_cause(real_store: Store, tmp_path: Path) -> None:
    arm = {"name": "a", "agent": "react", "max_turns": 3}
    with serving() as provider:
        for status, body, *_ in FAULTS.values():
            provider.answers(status, body)
        provider.cuts()
        provider.choose = _asked
        models = [{"id": "openai/m", "api_base": provider.url}]
        limits, retry = {"trial_seconds": 120}, {"base_s": 0.01}
        job = create(real_store, CUT + 1, models=models, arms=[arm], limits=limits, retry=retry)
        run_job(job, context_of(real_store, tmp_path))
    rows = list(real_store.iter_rows(job.id))
    ends = {int(row.sample_id[1:]): (row.outcome.value, row.score, row.stop_reason) for row in rows}
    wanted = {number: end for number, (_, _, *end) in enumerate(FAULTS.values())}
    wanted[CUT] = ["infra_missing", None, "provider:connection"]
    assert {number: list(end) for number, end in ends.items()} == wanted
    assert all(real_store.trial(row.trial_id).trace for row in rows)


def _asked(request: dict[str, Any]) -> int:
    found = re.search(r"Question s(\d+):", json.dumps(request))
    assert found is not None
    return int(found[1])
