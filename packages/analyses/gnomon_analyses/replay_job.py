"""Writes the spec of a job that replays an earlier one, and estimates what that will cost."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from gnomon.core.arm import Arm, ReplayedResult
from gnomon.core.errors import Conflict, DataError, SpecError
from gnomon.core.ids import stable_seed
from gnomon.core.model import is_built_in
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.replay import choose_call, cost_after
from gnomon.trials.trial_plan import count_trials, trial_id
from gnomon_workers.store.records import OPEN
from gnomon_workers.store.store import Store

CONTROL = "as recorded"
WHAT: dict[ReplayedResult, str] = {
    "truth": "the true result",
    "noise": "a wrong result",
    "other_sample": "another sample's result",
    "nothing": "no result",
}
PROBED = 200  # stored traces that the estimate is made from
MAX_NAME_CHARS = 200  # as a spec allows


def replay_spec(
    store: Store,
    job_id: str,
    *,
    arm: str,
    results: Sequence[ReplayedResult],
    tool: str | None,
    model: str | None,
    repeats: int,
) -> dict[str, Any]:
    """The spec, as plain data: the job's own, with an arm for results as recorded and one for each change.

    The response cache is off: answers that come from it would be those that were given before.

    Raises:
        NotFound: the job does not exist.
        Conflict: it still runs.
        SpecError: it has no such arm or model, or the arm has no tools.
    """
    job = store.job(job_id)
    if job.status in OPEN:
        raise Conflict(f"job {job_id} is {job.status}; wait for its end, or cancel it", field="JOB")
    spec = job.spec
    replayed = spec.arm(arm)
    if not replayed.tools:
        raise SpecError(f"the arm {arm!r} has no tools, so there is no result to change", field="--arm")
    if "truth" in results and replayed.faults is None and replayed.results == "live":
        raise SpecError(f"the results of {arm!r} are true already", field="--result")
    models = [spec.model(model)] if model else spec.models
    kinds: list[ReplayedResult] = ["recorded", *results]
    arms = [_arm(replayed, job_id, kind, tool) for kind in kinds]
    contrasts = [
        {
            "baseline": CONTROL,
            "variant": _name(kind),
            "isolates": f"{WHAT[kind]} of one call in place of the recorded one",
            "factor": ["replay"],
            "primary": True,
        }
        for kind in results
    ]
    return {
        **spec.model_dump(
            mode="json", exclude={"analysis": {"contrasts", "chain", "primary", "attribution"}}
        ),
        "name": f"replay of {spec.name or spec.benchmark}"[:MAX_NAME_CHARS],
        "models": [entry.model_dump(mode="json") for entry in models],
        "arms": arms,
        "repeats": repeats,
        "cache": False,
        "analysis": {"cluster": spec.analysis.cluster, "contrasts": contrasts},
    }


def _name(kind: ReplayedResult) -> str:
    return WHAT[kind].removeprefix("the ").removeprefix("a ")


def _arm(replayed: Arm, job_id: str, kind: ReplayedResult, tool: str | None) -> dict[str, Any]:
    replay = {"job": job_id, "arm": replayed.name, "result": kind, "tool": tool}
    name = CONTROL if kind == "recorded" else _name(kind)
    arm = {**replayed.model_dump(mode="json"), "name": name, "replay": replay, "repeats": None}
    if replayed.cassette is not None and replayed.cassette.record is not None:
        del arm["cassette"]  # it would be written over the recording of the first job
    return arm


def replay_cost(store: Store, spec: JobSpec, samples: Sequence[str]) -> dict[str, Any]:
    """What the job will cost if replies after a changed result are like those after the recorded one.

    Means over up to PROBED stored trials, times the job's trials; dollars are None where a price is unknown.
    """
    replay = spec.arms[0].replay
    if replay is None:
        raise ValueError("the spec replays nothing")
    probed = calls = 0
    tokens, usd, is_priced = [0, 0], 0.0, True
    is_free = all(is_built_in(model.id) for model in spec.models)
    for sample_id, model in islice(((s, m.label) for s in samples for m in spec.models), PROBED):
        trace = store.trace(trial_id(replay.job, sample_id, model, replay.arm, 0))
        try:
            call = choose_call(trace or {}, seed=stable_seed(sample_id, 0), tool=replay.tool)
        except DataError:
            continue
        probed += 1
        for reply in cost_after(trace or {}, call):
            calls += 1
            tokens[0] += reply.get("prompt_tokens") or 0
            tokens[1] += reply.get("completion_tokens") or 0
            is_priced = is_priced and (is_free or reply.get("usd") is not None)
            usd += reply.get("usd") or 0.0
    trials = count_trials(spec, len(samples))
    scale = trials / probed if probed else 0.0
    return {
        "samples": len(samples),
        "trials": trials,
        "probed": probed,
        "model_calls": round(calls * scale),
        "prompt_tokens": round(tokens[0] * scale),
        "completion_tokens": round(tokens[1] * scale),
        "usd": usd * scale if is_priced else None,
    }
