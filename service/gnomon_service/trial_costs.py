"""Estimates the tokens and the dollars of a job's trials, by the prompts of a few of its samples."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

from gnomon.core.agent import model_calls
from gnomon.core.arm import Arm
from gnomon.core.benchmark import AsksJudge
from gnomon.core.model import OWN_MODEL, Request, is_built_in
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.price_table import price_entry
from gnomon.report.text_formats import count
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.tokens import BYTES_PER_TOKEN, PICTURE_TOKENS, REPLY_TOKENS, TokenEstimator
from gnomon.trials.condition import asked, prompt_of, shown, toolbox_of
from gnomon.trials.job_context import JobContext
from gnomon.trials.trial_plan import count_trials
from gnomon_service.jobs import Draft
from gnomon_tools.core.toolbox import TOOLS

PROBED_SAMPLES = 14  # samples whose prompts are measured
OBSERVATION_TOKENS = 100
MOST_REPLY_TOKENS = 4_096
TYPICAL_CALLS = 3  # tool calls of a trial, unless a pilot has measured them


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one trial."""

    prompt: float
    completion: float
    calls: float = 1.0

    def usd(self, model: ModelSpec) -> float | None:
        """Dollars without any discount; 0 for built-in models, None if no price is known, as of an outside
        agent's own model.

        >>> Usage(prompt=1e6, completion=0).usd(ModelSpec(id="openai/gpt-4o"))
        2.5
        """
        if is_built_in(model.id):
            return None if model.id == OWN_MODEL else 0.0
        entry = price_entry(model)
        if entry is None:
            return None
        calls = max(1.0, self.calls)  # a tier counts the prompt of one call
        return calls * entry.usd(prompt=self.prompt / calls, completion=self.completion / calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A few samples of a job, to measure their prompts under each arm; `cells` counts all samples."""

    samples: Sequence[Sample]
    cells: Mapping[str, int]
    bench: JobContext

    def first_requests(self, arm: Arm) -> list[Request]:
        """Each sample's first request: the prompt that the arm shows, and its tools, as far as they fit."""
        return [self._first_request(sample, arm) for sample in self.samples]

    def tokens(self, requests: Sequence[Request], model: ModelSpec) -> float:
        """Tokens of a trial's first request to the model, on average."""
        weights = [self.cells[sample.ref.cell] for sample in self.samples]
        tokens = map(TokenEstimator(pictures=model.pictures).prompt, requests)
        return sum(weight * count for weight, count in zip(weights, tokens, strict=True)) / sum(weights)

    @property
    def turns(self) -> float:
        """How often an agent is asked in a trial, on average."""
        weights = [self.cells[sample.ref.cell] for sample in self.samples]
        turns = (1 + len(sample.follow_ups) for sample in self.samples)
        return sum(weight * count for weight, count in zip(weights, turns, strict=True)) / sum(weights)

    def _first_request(self, sample: Sample, arm: Arm) -> Request:
        now = self.bench.situation(arm)
        sample = asked(sample, now)
        messages = prompt_of(sample, now)
        schemas = shown(toolbox_of(sample, now, tools=self.bench.spec.toolset(arm)), now).schemas
        return Request(messages=messages, tools=schemas)


def probe_of(draft: Draft) -> Probe:
    """Some samples of every cell."""
    by_cell: dict[str, list[str]] = defaultdict(list)
    for ref in draft.refs:
        by_cell[ref.cell].append(ref.sample_id)
    # The first of every cell, then the second: prompts of one cell are alike, neighbours share a scene.
    in_turn = (name for turn in zip_longest(*by_cell.values()) for name in turn if name is not None)
    samples = [draft.job.samples.get(name) for name in islice(in_turn, PROBED_SAMPLES)]
    cells = {cell: len(names) for cell, names in by_cell.items()}
    return Probe(samples=samples, cells=cells, bench=draft.job.bench)


def unfit_tools(spec: JobSpec, arm: Arm, requests: Sequence[Request]) -> list[str]:
    """The arm's tools that fit no probed sample, but for those that wait for an input told later."""
    offered = {tool["function"]["name"] for request in requests for tool in request.tools}
    return [
        tool.name
        for tool in spec.toolset(arm)
        if tool.name not in offered and not (tool.needs and tool.needs.is_told_later)
    ]


def tool_warnings(spec: JobSpec, requests: Mapping[str, Sequence[Request]], *, samples: int) -> Iterator[str]:
    """Of each arm, which of its tools fit no sample whose request is here, of all the job's `samples`. That
    some of all tools fit none is no news: nobody chose them.
    """
    for arm in spec.arms:
        unfit = unfit_tools(spec, arm, requests[arm.name])
        is_chosen = tuple(arm.tools) != TOOLS.working_names()
        if unfit and (is_chosen or len(unfit) == len(arm.tools)):
            probed = len(requests[arm.name])
            of_tools = f"{len(unfit)} of {count(len(arm.tools), 'tool')}"
            looked_at = count(probed, "sample") if probed == samples else f"{probed} samples of {samples:,}"
            is_plain = ", which it asks as an arm without tools" if len(unfit) == len(arm.tools) else ""
            named = ", ".join(unfit)
            yield f"arm {arm.name}: {of_tools} fit none of {looked_at} looked at{is_plain}: {named}"


def arm_costs(
    spec: JobSpec,
    model: ModelSpec,
    arm: Arm,
    *,
    samples: int,
    probe: Probe,
    requests: Sequence[Request],
    rows: Sequence[Row],
) -> dict[str, Any]:
    """What the trials of an arm would take and cost with a model, whose `requests` are those of the probe."""
    trials = samples * spec.repeats_of(arm.name)
    start, turns = probe.tokens(requests, model), probe.turns
    fitting = set(arm.tools).difference(unfit_tools(spec, arm, requests))
    asked = arm.model_copy(update={"tools": tuple(sorted(fitting))})  # as far as the probe tells
    is_sure = len(requests) == samples
    most_calls = min(arm.max_turns, math.ceil(model_calls(asked if is_sure else arm)[1] * turns))
    typical_calls = min(most_calls, math.ceil(min(model_calls(asked)[1], TYPICAL_CALLS + 1) * turns))
    limits = [decoding.max_tokens for decoding in (spec.decoding or {}).values() if decoding.max_tokens]
    most_reply = float(model.max_tokens or max(limits, default=MOST_REPLY_TOKENS))
    pilot = _pilot_usage(rows, model.label, arm.name)
    typical = pilot or _usage(start, typical_calls, min(REPLY_TOKENS, most_reply))
    most = _usage(start, most_calls, most_reply)
    usd, most_usd = typical.usd(model), most.usd(model)
    if arm.outside is not None and pilot is None:  # its loop, and often its model, are its own
        return {
            "model": model.label,
            "arm": arm.name,
            "trials": trials,
            "from_pilot": False,
            **dict.fromkeys(("prompt_tokens", "completion_tokens", "usd", "usd_at_most")),
        }
    return {
        "model": model.label,
        "arm": arm.name,
        "trials": trials,
        "from_pilot": pilot is not None,
        "prompt_tokens": round(typical.prompt * trials),
        "completion_tokens": round(typical.completion * trials),
        "usd": None if usd is None else usd * trials,
        "usd_at_most": None if most_usd is None else most_usd * trials,
    }


def judge_costs(spec: JobSpec, probe: Probe, *, samples: int) -> dict[str, Any] | None:
    """What judging would take, by the probed samples: a verdict on every trial of a question that needs one,
    and on each reply that people have labelled.
    """
    benchmark = probe.bench.benchmark
    if spec.judge is None or not isinstance(benchmark, AsksJudge):
        return None
    probed = [sample for sample in probe.samples if benchmark.needs_judge(sample)]
    prompts = [benchmark.judge_prompt(sample, "word " * REPLY_TOKENS) for sample in probed]
    requests = [Request(messages=[{"role": "user", "content": prompt}], tools=[]) for prompt in prompts]
    tokens = sum(map(TokenEstimator().prompt, requests)) / max(1, len(requests))
    labelled = sum(benchmark.labelled_reply(sample) is not None for sample in probed)
    verdicts = count_trials(spec, len(probed)) + labelled
    calls = round(samples * verdicts / len(probe.samples))
    typical = Usage(prompt=tokens, completion=REPLY_TOKENS)
    most = Usage(prompt=2 * tokens, completion=float(spec.judge.max_tokens or MOST_REPLY_TOKENS))
    usd, most_usd = typical.usd(spec.judge), most.usd(spec.judge)
    return {
        "model": spec.judge.label,
        "calls": calls,
        "prompt_tokens": round(tokens * calls),
        "completion_tokens": REPLY_TOKENS * calls,
        "usd": None if usd is None else usd * calls,
        "usd_at_most": None if most_usd is None else most_usd * calls,
    }


def _usage(start: float, calls: int, reply: float) -> Usage:
    """Tokens of this many calls, each of which is sent the whole conversation before it."""
    grown = (reply + OBSERVATION_TOKENS) * calls * (calls - 1) / 2
    return Usage(prompt=start * calls + grown, completion=reply * calls, calls=calls)


def _pilot_usage(rows: Sequence[Row], model: str, arm: str) -> Usage | None:
    counts = [
        (row.prompt_tokens, row.completion_tokens, row.model_calls)
        for row in rows
        if (row.model, row.arm) == (model, arm)
        and row.score is not None
        and row.prompt_tokens is not None
        and row.completion_tokens is not None
        and row.model_calls is not None
    ]
    if not counts:
        return None
    prompt, completion, calls = (sum(column) / len(counts) for column in zip(*counts, strict=True))
    return Usage(prompt=prompt, completion=completion, calls=calls)


def assumptions(*, has_pilot: bool) -> list[str]:
    """What the costs rest on, in words."""
    tokens = (
        f"{BYTES_PER_TOKEN} bytes per token; {PICTURE_TOKENS:,} tokens per picture, {REPLY_TOKENS} per "
        f"reply, {OBSERVATION_TOKENS} per tool result, {TYPICAL_CALLS} tool calls per trial with tools"
    )
    return [
        "arms that are in the pilot: its mean tokens per trial" if has_pilot else tokens,
        f"at most: every turn is used, every reply has max_tokens (if not set: {MOST_REPLY_TOKENS:,}) tokens",
    ]
