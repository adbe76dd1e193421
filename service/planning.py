"""Estimates what a job would cost and could detect, before anything is spent."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from gnomon.core.agent import model_calls
from gnomon.core.arm import Arm
from gnomon.core.model import Request, is_built_in
from gnomon.core.retry import changed_fields
from gnomon.core.row import Row
from gnomon.core.sample import Sample, SampleRef
from gnomon.price_table import price_entry
from gnomon.report.pairs import pairs
from gnomon.spec.job_spec import JobSpec, ModelSpec
from gnomon.statistics.power import ICC, design_effect, mde_of, planned_mde
from gnomon.tokens import BYTES_PER_TOKEN, PICTURE_TOKENS, REPLY_TOKENS, TokenEstimator
from gnomon.trials.fault_injection import toolbox_of
from gnomon.trials.prompt import prompt_of
from gnomon.trials.run_trial import JobContext
from gnomon.trials.transformed_question import question_under
from gnomon.trials.trial_plan import cluster_of
from service.jobs import Draft

if TYPE_CHECKING:
    from workers.store.store import Store

PROBED_SAMPLES = 14  # samples whose prompts are measured
OBSERVATION_TOKENS = 100
MOST_REPLY_TOKENS = 4_096
TYPICAL_CALLS = 3  # tool calls of a trial, unless a pilot has measured them
DISCORDANT = (0.1, 0.2, 0.3, 0.4)
SEQUENTIAL_DISCORDANT, SEQUENTIAL_EFFECTS = 0.4, (0.05, 0.1, 0.2, 0.3)
MOST_SIMULATED = 5_000  # clusters: more take longer than a plan may


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one trial."""

    prompt: float
    completion: float
    calls: float = 1.0

    def usd(self, model: ModelSpec) -> float | None:
        """Dollars without any discount; 0 for built-in models, None if no price is known.

        >>> Usage(prompt=1e6, completion=0).usd(ModelSpec(id="openai/gpt-4o"))
        2.5
        """
        if is_built_in(model.id):
            return 0.0
        entry = price_entry(model)
        if entry is None:
            return None
        calls = max(1.0, self.calls)  # a tier counts the prompt of one call
        return calls * entry.usd(prompt=self.prompt / calls, completion=self.completion / calls)


def plan(draft: Draft, *, store: "Store | None" = None, pilot: str | None = None) -> dict[str, Any]:
    """The plan of a job as plain data; `pilot` is the id of a stored job whose costs and spread it uses.

    Raises:
        NotFound: the pilot does not exist.
        DataError: the samples cannot be read.
    """
    spec, refs = draft.spec, draft.refs
    rows = list(store.iter_rows(store.job(pilot).id)) if store and pilot else []
    probe = _probe(draft)
    arms = [
        _arm(spec, model, arm, samples=len(refs), probe=probe, rows=rows)
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
        "trials": draft.planned_trials,
        "arms": arms,
        "usd": None if None in prices else sum(price for price in prices if price is not None),
        "usd_limit": spec.limits.usd,
        **({"retry": retry} if (retry := changed_fields(spec.retry)) else {}),
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
        **({"sequential": _sequential(spec, refs)} if spec.analysis.sequential else {}),
        "warnings": draft.warnings,
        "pilot": _pilot(store, pilot, rows, samples=len(refs)) if store and pilot else None,
        "assumptions": _assumptions(deff, has_pilot=any(arm["from_pilot"] for arm in arms)),
    }


def _sequential(spec: JobSpec, refs: Sequence[SampleRef]) -> dict[str, Any]:
    """The share of a job that is expected to run until it is decided, by the true difference."""
    import numpy as np  # late, as SciPy: they load slowly, and few plans need them

    from gnomon.statistics.sequential import expected_share, least_effect

    sizes = np.array(list(Counter(cluster_of(spec, ref) for ref in refs).values()), dtype=np.float64)
    is_small = len(sizes) <= MOST_SIMULATED
    return {
        "least": least_effect(sizes),
        "discordant": SEQUENTIAL_DISCORDANT,
        "expected": [
            {
                "diff": diff,
                "share": expected_share(sizes, diff=diff, discordant=SEQUENTIAL_DISCORDANT, icc=ICC)
                if is_small
                else None,
            }
            for diff in SEQUENTIAL_EFFECTS
        ],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probe:
    """A few samples of a job, to measure their prompts under each arm; `cells` counts all samples."""

    samples: Sequence[Sample]
    cells: Mapping[str, int]
    bench: JobContext
    estimator: TokenEstimator

    def tokens(self, arm: Arm) -> float:
        """Tokens of a trial's first request, on average: the prompt that the arm shows, and its tools."""
        weights = [self.cells[sample.ref.cell] for sample in self.samples]
        tokens = (self._tokens(sample, arm) for sample in self.samples)
        return sum(weight * count for weight, count in zip(weights, tokens, strict=True)) / sum(weights)

    def _tokens(self, sample: Sample, arm: Arm) -> int:
        sample = question_under(arm, sample, self.bench)
        messages = prompt_of(sample, arm, self.bench.benchmark)
        schemas = toolbox_of(sample, arm, self.bench.media, seed=0).schemas
        return self.estimator.prompt(Request(messages=messages, tools=schemas))


def _probe(draft: Draft) -> _Probe:
    by_cell: dict[str, list[str]] = defaultdict(list)
    for ref in draft.refs:
        by_cell[ref.cell].append(ref.sample_id)
    # The first of every cell, then the second: prompts of one cell are alike, neighbours share a scene.
    in_turn = (name for turn in zip_longest(*by_cell.values()) for name in turn if name is not None)
    samples = [draft.job.samples.get(name) for name in islice(in_turn, PROBED_SAMPLES)]
    cells = {cell: len(names) for cell, names in by_cell.items()}
    return _Probe(samples=samples, cells=cells, bench=draft.job.bench, estimator=TokenEstimator())


def _arm(
    spec: JobSpec,
    model: ModelSpec,
    arm: Arm,
    *,
    samples: int,
    probe: _Probe,
    rows: Sequence[Row],
) -> dict[str, Any]:
    trials = samples * spec.repeats
    start = probe.tokens(arm)
    most_calls = model_calls(arm)[1]
    typical_calls = min(most_calls, TYPICAL_CALLS + 1)
    limits = [decoding.max_tokens for decoding in (spec.decoding or {}).values() if decoding.max_tokens]
    most_reply = float(model.max_tokens or max(limits, default=MOST_REPLY_TOKENS))
    pilot = _pilot_usage(rows, model.label, arm.name)
    typical = pilot or _usage(start, typical_calls, min(REPLY_TOKENS, most_reply))
    most = _usage(start, most_calls, most_reply)
    usd, most_usd = typical.usd(model), most.usd(model)
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
    ]
    if not counts:
        return None
    prompt, completion, calls = (sum(column) / len(counts) for column in zip(*counts, strict=True))
    return Usage(prompt=prompt, completion=completion, calls=calls)


def _pilot(store: "Store", job_id: str, rows: Sequence[Row], *, samples: int) -> dict[str, Any]:
    """The effects that this many samples detect: the pilot's standard errors times √(n / samples)."""
    from gnomon.report.build import build_report  # late: SciPy takes longer to load than a plan to make

    job = store.job(job_id)
    report = build_report(
        job_id=job.id, spec=job.spec, status=job.status, rows=rows, planned=job.counts.planned
    )
    contrasts = [
        {
            "model": contrast["model"],
            "baseline": contrast["baseline"],
            "variant": contrast["variant"],
            "samples": contrast["n"],
            "detectable": mde_of(contrast["se"] * (contrast["n"] / samples) ** 0.5),
        }
        for contrast in report["contrasts"]
        if contrast["scope"] == "all" and contrast["se"] is not None
    ]
    return {"job": job_id, "contrasts": contrasts}


def _assumptions(deff: float, *, has_pilot: bool) -> list[str]:
    tokens = (
        f"{BYTES_PER_TOKEN} bytes per token; {PICTURE_TOKENS:,} tokens per picture, {REPLY_TOKENS} per "
        f"reply, {OBSERVATION_TOKENS} per tool result, {TYPICAL_CALLS} tool calls per trial with tools"
    )
    return [
        "arms that are in the pilot: its mean tokens per trial" if has_pilot else tokens,
        f"at most: every turn is used, every reply has max_tokens (if not set: {MOST_REPLY_TOKENS:,}) tokens",
        f"intraclass correlation of a cluster's samples {ICC}: a design effect of {deff:.2f}",
        "detectable: power 80 %, two-sided test at 5 %, one repeat",
    ]
