"""Planning: what a job would cost and could detect, before anything is spent."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.arm import Arm
from gnomon.message import TextBlock
from gnomon.model import is_built_in
from gnomon.perturbation import toolbox_of
from gnomon.preset import model_calls
from gnomon.prompt import prompt_of
from gnomon.report.build import build_report
from gnomon.report.contrasts import pairs
from gnomon.row import Row
from gnomon.sample import Sample
from gnomon.spec import JobSpec, ModelSpec
from gnomon.statistics.power import ICC, design_effect, mde_of, planned_mde
from gnomon.trial import Bench
from service.jobs import Draft
from service.settings import Settings
from workers.opening import media_of, open_spec
from workers.store.store import Store

LOOKED_AT = 12  # samples whose prompts are measured
CHARS_A_TOKEN, PICTURE_TOKENS, OBSERVATION_TOKENS = 4, 1_000, 100
REPLY_TOKENS, MOST_REPLY_TOKENS = 300, 4_096
TYPICAL_CALLS = 3  # tool calls of a trial, until a pilot tells
DISCORDANT = (0.1, 0.2, 0.3, 0.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one trial."""

    prompt: float
    completion: float

    def usd(self, model: ModelSpec) -> float | None:
        """Dollars; 0 for built-in models, None where the spec gives no price."""
        if is_built_in(model.id):
            return 0.0
        if model.price is None:
            return None
        return (self.prompt * model.price.input + self.completion * model.price.output) / 1e6


def plan(
    draft: Draft, settings: Settings, *, store: Store | None = None, pilot: str | None = None
) -> dict[str, Any]:
    """The plan of a job as plain data; `pilot` names a stored job of which costs and spread are taken.

    Raises:
        NotFound: there is no such pilot.
        DataError: the samples cannot be read.
    """
    spec, refs = draft.spec, draft.refs
    rows = list(store.iter_rows(store.job(pilot).id)) if store and pilot else []
    looked = _look(draft, settings)
    arms = [
        _arm(spec, model, arm.arm(), samples=len(refs), looked=looked, rows=rows)
        for model in spec.models
        for arm in spec.arms
    ]
    prices = [arm["usd"] for arm in arms]
    clusters = Counter(ref.cluster or ref.sample_id for ref in refs)
    deff = design_effect(list(clusters.values())) if spec.analysis.cluster == "auto" else 1.0
    cells = Counter(ref.cell for ref in refs)
    contrasts = pairs(spec)
    return {
        "name": spec.name or spec.benchmark,
        "benchmark": spec.benchmark,
        "samples": len(refs),
        "clusters": len(clusters),
        "cells": len(cells),
        "trials": draft.planned,
        "arms": arms,
        "usd": None if None in prices else sum(price for price in prices if price is not None),
        "usd_limit": spec.limits.usd,
        "comparisons": {
            "primary": sum(pair.is_primary for pair in contrasts),
            "all": len(contrasts) * (1 + len(cells)),
        },
        "detectable": [
            {
                "discordant": share,
                "all": planned_mde(len(refs), discordant=share, design_effect=deff),
                "smallest_cell": planned_mde(min(cells.values()), discordant=share),
            }
            for share in DISCORDANT
        ],
        "pilot": _pilot(store, pilot, rows, samples=len(refs)) if store and pilot else None,
        "assumptions": _assumptions(deff, has_pilot=any(arm["from_pilot"] for arm in arms)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """A few samples of a job, whose prompts are measured under each arm."""

    samples: Sequence[Sample]
    bench: Bench

    def tokens(self, arm: Arm) -> float:
        """Tokens of a trial's first request, on average: the prompt that the arm shows, and its tools."""
        return sum(self._tokens(sample, arm) for sample in self.samples) / len(self.samples)

    def _tokens(self, sample: Sample, arm: Arm) -> float:
        content = prompt_of(sample, arm, self.bench.benchmark)[0]["content"]
        blocks = content if isinstance(content, list) else [TextBlock(type="text", text=content or "")]
        texts = sum(len(block["text"]) for block in blocks if block["type"] == "text")
        pictures = sum(block["type"] == "image" for block in blocks)
        schemas = toolbox_of(sample, arm, self.bench.media, seed=0).schemas
        texts += len(json.dumps(schemas)) if schemas else 0
        return texts / CHARS_A_TOKEN + pictures * PICTURE_TOKENS


def _look(draft: Draft, settings: Settings) -> _Looked:
    refs = draft.refs
    step = max(1, len(refs) // LOOKED_AT)
    job = open_spec(draft.spec, media_of(settings.data_dir))
    samples = [job.samples.get(refs[at].sample_id) for at in range(0, len(refs), step)][:LOOKED_AT]
    return _Looked(samples=samples, bench=job.bench)


def _arm(
    spec: JobSpec,
    model: ModelSpec,
    arm: Arm,
    *,
    samples: int,
    looked: _Looked,
    rows: Sequence[Row],
) -> dict[str, Any]:
    trials = samples * spec.repeats
    start = looked.tokens(arm)
    most_calls = model_calls(arm)[1]
    typical_calls = min(most_calls, TYPICAL_CALLS + 1)
    limits = [one.max_tokens for one in (spec.decoding or {}).values() if one.max_tokens]
    most_reply = float(model.max_tokens or max(limits, default=MOST_REPLY_TOKENS))
    seen = _seen(rows, model.label, arm.name)
    typical = seen or _usage(start, typical_calls, min(REPLY_TOKENS, most_reply))
    most = _usage(start, most_calls, most_reply)
    usd, most_usd = typical.usd(model), most.usd(model)
    return {
        "model": model.label,
        "arm": arm.name,
        "trials": trials,
        "from_pilot": seen is not None,
        "prompt_tokens": round(typical.prompt * trials),
        "completion_tokens": round(typical.completion * trials),
        "usd": None if usd is None else usd * trials,
        "usd_at_most": None if most_usd is None else most_usd * trials,
    }


def _usage(start: float, calls: int, reply: float) -> Usage:
    """Tokens of so many calls, each of which gets all that was said before it."""
    grown = (reply + OBSERVATION_TOKENS) * calls * (calls - 1) / 2
    return Usage(prompt=start * calls + grown, completion=reply * calls)


def _seen(rows: Sequence[Row], model: str, arm: str) -> Usage | None:
    known = [
        (row.prompt_tokens, row.completion_tokens)
        for row in rows
        if (row.model, row.arm) == (model, arm)
        and row.score is not None
        and row.prompt_tokens is not None
        and row.completion_tokens is not None
    ]
    if not known:
        return None
    prompts, completions = zip(*known, strict=True)
    return Usage(prompt=sum(prompts) / len(known), completion=sum(completions) / len(known))


def _pilot(store: Store, job_id: str, rows: Sequence[Row], *, samples: int) -> dict[str, Any]:
    """What the pilot's spread says of a job of so many samples: its own error, shrunk by √(n / samples)."""
    job = store.job(job_id)
    report = build_report(
        job_id=job.id, spec=job.spec, status=job.status, rows=rows, planned=job.counts.planned
    )
    found: dict[str, Any] = defaultdict(list)
    for one in report["contrasts"]:
        if one["scope"] == "all" and one["se"] is not None:
            found["contrasts"].append(
                {
                    "model": one["model"],
                    "baseline": one["baseline"],
                    "variant": one["variant"],
                    "samples": one["n"],
                    "detectable": mde_of(one["se"] * (one["n"] / samples) ** 0.5),
                }
            )
    return {"job": job_id, "contrasts": found["contrasts"]}


def _assumptions(deff: float, *, has_pilot: bool) -> list[str]:
    tokens = (
        f"{CHARS_A_TOKEN} characters a token, {PICTURE_TOKENS:,} tokens a picture, {REPLY_TOKENS} a reply, "
        f"{OBSERVATION_TOKENS} a tool's answer, {TYPICAL_CALLS} tool calls a trial where tools may be called"
    )
    return [
        "tokens and dollars of arms that the pilot has are the pilot's" if has_pilot else tokens,
        f"at most: every turn used, replies as long as max_tokens, else {MOST_REPLY_TOKENS:,} tokens",
        f"samples of one cluster are alike with a correlation of {ICC}: {deff:.2f} of them count as one",
        "detectable: the smallest true difference found in 8 of 10 jobs, two-sided at 5 %, one repeat",
    ]
