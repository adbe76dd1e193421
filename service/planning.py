"""Estimates what a job would cost and could detect, before anything is spent."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.agent import model_calls
from gnomon.core.arm import Arm
from gnomon.core.benchmark import AsksJudge
from gnomon.core.model import OWN_MODEL, Request, is_built_in
from gnomon.core.retry import changed_fields
from gnomon.core.row import Row
from gnomon.core.sample import Sample, SampleRef
from gnomon.exchange.foreign import benchmark_called
from gnomon.price_table import price_entry
from gnomon.report.detectable import (
    Detectable,
    Rule,
    detectable_in_cell,
    share_claimed,
    smallest_effect,
    within_share,
)
from gnomon.report.enough_samples import enough_samples
from gnomon.report.pairs import ArmPair, pairs
from gnomon.report.score_matrix import read_scores
from gnomon.report.text_formats import count
from gnomon.spec.job_spec import JobSpec, ModelSpec
from gnomon.spec.margin_spec import margin_text
from gnomon.statistics.design import ICC, Design, design, strata_of
from gnomon.statistics.power import PERSISTENCE, PlantedStudy, design_effect, right_or_wrong, spread_of
from gnomon.tokens import BYTES_PER_TOKEN, PICTURE_TOKENS, REPLY_TOKENS, TokenEstimator
from gnomon.trials.fault_injection import toolbox_of
from gnomon.trials.prompt import prompt_of
from gnomon.trials.run_trial import JobContext
from gnomon.trials.transformed_question import question_under
from gnomon.trials.trial_plan import cluster_of
from service.jobs import Draft

if TYPE_CHECKING:
    from gnomon.report.sections.contrasts import Family
    from workers.store.store import Store

PROBED_SAMPLES = 14  # samples whose prompts are measured
OBSERVATION_TOKENS = 100
MOST_REPLY_TOKENS = 4_096
TYPICAL_CALLS = 3  # tool calls of a trial, unless a pilot has measured them
DISCORDANT = (0.1, 0.2, 0.3, 0.4)
SEQUENTIAL_DISCORDANT, SEQUENTIAL_EFFECTS = 0.4, (0.05, 0.1, 0.2, 0.3)
MOST_SIMULATED = 5_000  # clusters: more take longer than a plan may
ENOUGH_DISCORDANT, ENOUGH_EFFECTS = 0.3, (0.2, 0.1)  # for which a job that is too small names a size
SHARE_DRAWS = 60  # that show how seldom the largest effect is claimed where it is too small


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


def plan(
    draft: Draft,
    *,
    store: "Store | None" = None,
    pilot: str | None = None,
    lost: float = 0.0,
    icc: float = ICC,
) -> dict[str, Any]:
    """The plan of a job as plain data; `pilot` is the id of a stored job whose costs and spread it uses.

    `lost` is the share of each arm's trials expected to be lost, `icc` the correlation of the differences
    within a cluster; a pilot brings its own.

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
    judge = _judge(spec, probe, samples=len(refs))
    prices = [part["usd"] for part in (*arms, *([judge] if judge else ()))]
    clusters = Counter(ref.cluster or ref.sample_id for ref in refs)
    cells = Counter(ref.cell for ref in refs)
    contrasts = pairs(spec)
    outlook = _outlook(draft, contrasts, lost=lost, icc=icc)
    detectable = [dict(row) for row in outlook.rows]
    is_too_small = bool(contrasts) and all(row["all"] is None for row in detectable)
    enough = [dict(size) for size in outlook.enough] if is_too_small else []
    shown = outlook.assumptions_of_sizes() if enough else outlook.assumptions()
    return {
        "name": spec.name or spec.benchmark,
        "benchmark": spec.benchmark,
        "samples": len(refs),
        "clusters": len(clusters),
        "cells": len(cells),
        "trials": draft.planned_trials,
        "arms": arms,
        **({"judge": judge} if judge else {}),
        "usd": None if None in prices else sum(price for price in prices if price is not None),
        "usd_limit": spec.limits.usd,
        **({"retry": retry} if (retry := changed_fields(spec.retry)) else {}),
        "comparisons": {
            "primary": sum(pair.is_primary for pair in contrasts),
            "all": len(contrasts) * (1 + len(cells)),
        },
        "margin_text": margin_text(spec.analysis.margin),
        "detectable": detectable,
        **({"enough": {"discordant": ENOUGH_DISCORDANT, "sizes": enough}} if enough else {}),
        **({"sequential": _sequential(spec, refs)} if spec.analysis.sequential else {}),
        **({"servers": list(_servers(spec))} if spec.servers else {}),
        "warnings": draft.warnings,
        "notes": list(spec.analysis.notes),
        "pilot": _pilot(store, pilot, rows, outlook) if store and pilot else None,
        "assumptions": [
            *_assumptions(has_pilot=any(arm["from_pilot"] for arm in arms)),
            *(shown if contrasts else ()),
        ],
    }


def _servers(spec: JobSpec) -> Iterator[dict[str, Any]]:
    """The tool servers with what they say of their tools, which goes to the model as it is."""
    for name, server in spec.servers.items():
        if server.listing is not None:
            yield {
                "name": name,
                "where": server.where(),
                "server": server.listing.server,
                "sandbox": server.listing.sandbox,
                "tools": [
                    {"name": tool.shown, "description": tool.description} for tool in server.listing.tools
                ],
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

    @property
    def turns(self) -> float:
        """How often an agent is asked in a trial, on average."""
        weights = [self.cells[sample.ref.cell] for sample in self.samples]
        turns = (1 + len(sample.follow_ups) for sample in self.samples)
        return sum(weight * count for weight, count in zip(weights, turns, strict=True)) / sum(weights)

    def _tokens(self, sample: Sample, arm: Arm) -> int:
        sample = question_under(arm, sample, self.bench)
        messages = prompt_of(sample, arm, self.bench.benchmark)
        schemas = toolbox_of(
            sample, arm, self.bench.media, tools=self.bench.spec.toolset(arm), seed=0
        ).schemas
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
    in_turn, turns = model_calls(arm)[1], probe.turns
    most_calls = min(arm.max_turns, math.ceil(in_turn * turns))
    typical_calls = min(most_calls, math.ceil(min(in_turn, TYPICAL_CALLS + 1) * turns))
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


def _judge(spec: JobSpec, probe: _Probe, *, samples: int) -> dict[str, Any] | None:
    """What judging would take, by the probed samples: a verdict on every trial of a question that needs one,
    and on each reply that people have labelled.
    """
    benchmark = probe.bench.benchmark
    if spec.judge is None or not isinstance(benchmark, AsksJudge):
        return None
    probed = [sample for sample in probe.samples if benchmark.needs_judge(sample)]
    prompts = [benchmark.judge_prompt(sample, "word " * REPLY_TOKENS) for sample in probed]
    requests = [Request(messages=[{"role": "user", "content": prompt}], tools=[]) for prompt in prompts]
    tokens = sum(map(probe.estimator.prompt, requests)) / max(1, len(requests))
    labelled = sum(benchmark.labelled_reply(sample) is not None for sample in probed)
    verdicts = len(probed) * len(spec.models) * len(spec.arms) * spec.repeats + labelled
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Outlook:
    """The design of a job, and by which rule its comparisons will be judged."""

    repeats: int
    whole: Design
    smallest_cell: Design
    primary: int  # comparisons among which p is adjusted
    exploratory: int
    lost: float
    icc: float

    @cached_property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """What is detected, by the share of the samples on which two arms differ."""
        return [self._row(share) for share in DISCORDANT]

    def _row(self, share: float) -> dict[str, Any]:
        overall, in_cell = self._overall(share), self._in_cell(share)
        whole = {"discordant": share, "all": overall.effect, "all_note": overall.note}
        return {**whole, "smallest_cell": in_cell.effect, "smallest_cell_note": in_cell.note}

    def of_study(self, study: PlantedStudy) -> Detectable:
        """What the primary comparison of such a study detects."""
        return smallest_effect(study, self._rule("primary"), looks=self.primary)

    def _overall(self, share: float) -> Detectable:
        study = self._study(share, self.whole)
        detectable = self.of_study(study)
        claimed = None
        if detectable.effect is not None and detectable.effect > share:
            claimed = share_claimed(study, self._rule("primary"), share, draws=SHARE_DRAWS)
        return within_share(detectable, share, claimed)

    def _in_cell(self, share: float) -> Detectable:
        study = self._study(share, self.smallest_cell)
        detectable = detectable_in_cell(study, self._rule("exploratory"), looks=self.exploratory)
        return within_share(detectable, share, None)

    def _study(self, share: float, grouping: Design) -> PlantedStudy:
        spread = right_or_wrong(share, icc=self.icc)
        lost = self.lost, self.lost
        return PlantedStudy(grouping=grouping, spread=spread, repeats=self.repeats, lost=lost)

    def _rule(self, family: "Family") -> Rule:
        from gnomon.report.sections.contrasts import rule_of  # late: it brings all that draws a report

        looks = self.primary if family == "primary" else self.exploratory
        return rule_of(family, looks=looks, repeats=self.repeats)

    @cached_property
    def enough(self) -> Sequence[Mapping[str, Any]]:
        """How many samples would show an effect, with clusters like those that there are; by effect."""
        study, sizes, tried = self._study(ENOUGH_DISCORDANT, self.whole), [], dict[int, float | None]()
        for effect in ENOUGH_EFFECTS:
            larger = enough_samples(study, self._rule("primary"), effect, looks=self.primary, tried=tried)
            if larger is not None:
                sizes.append({"effect": effect, "samples": larger.n, "clusters": larger.clusters_n})
        return sizes

    def assumptions_of_sizes(self) -> list[str]:
        """What the sizes that would be enough rest on, in words."""
        among = f"p is adjusted among {count(self.primary, 'primary comparison')}"
        lost = f"{100 * self.lost:.3g} % of each arm's trials are lost"
        return [
            f"enough: claimed in 8 of 10 simulated jobs; scores are 0 or 1, {among}",
            f"samples of a cluster correlate by {self.icc:g}; {lost}",
        ]

    def assumptions(self) -> list[str]:
        """What the detectable effects rest on, in words."""
        deff = design_effect(np.bincount(self.whole.clusters).tolist(), self.icc)
        cell = self.smallest_cell
        judged = "judged as the report will be: interval, adjusted p, sign-flip check, lost trials"
        looks = (
            f"{count(self.primary, 'primary comparison')}, in a cell among {count(self.exploratory, 'other')}"
        )
        signs = "apart from the effect an arm gains as many samples as it loses, more in some clusters"
        size = f"{count(cell.n, 'sample')} in {count(cell.clusters_n, 'cluster')}"
        lines = [
            f"intraclass correlation of a cluster's samples {self.icc:g}: a design effect of {deff:.2f}",
            f"detectable: the smallest true effect that is claimed in 8 of 10 simulated jobs, {judged}",
            f"p is adjusted among {looks}, which show nothing",
            f"scores are 0 or 1; {signs}",
            f"lost at random: {100 * self.lost:.3g} % of each arm's trials",
            f"smallest cell, {size}: by a closed form, not simulated",
        ]
        if self.repeats > 1:
            stays = f"{100 * PERSISTENCE:.0f} % of the variance of a sample's difference stay in every repeat"
            lines.append(f"{self.repeats} repeats: {stays}")
        return lines


def _outlook(draft: Draft, contrasts: Sequence[ArmPair], *, lost: float, icc: float) -> _Outlook:
    spec, refs = draft.spec, draft.refs
    is_clustered = spec.analysis.cluster == "auto"
    names = [(ref.cluster or ref.sample_id) if is_clustered else ref.sample_id for ref in refs]
    clusters = np.unique(names, return_inverse=True)[1]
    cells = np.unique([ref.cell for ref in refs], return_inverse=True)[1]
    smallest = cells == int(np.argmin(np.bincount(cells)))
    primary = sum(pair.is_primary for pair in contrasts)
    headline = draft.job.bench.benchmark.headline
    return _outlook_of(
        strata_of(cells, headline).astype(np.intp).tobytes(),
        clusters.astype(np.intp).tobytes(),
        smallest.tobytes(),
        repeats=spec.repeats,
        primary=max(1, primary),
        exploratory=max(1, len(contrasts) * (1 + int(cells.max()) + 1) - primary),
        lost=lost,
        icc=icc,
    )


@lru_cache(maxsize=16)  # a form asks for the plan at every change, and few changes touch the design
def _outlook_of(
    strata: bytes,
    clusters: bytes,
    smallest: bytes,
    *,
    repeats: int,
    primary: int,
    exploratory: int,
    lost: float,
    icc: float,
) -> _Outlook:
    """The outlook of a design, and what was simulated of it; arrays come as bytes, which can be keys."""
    by_cluster, is_smallest = np.frombuffer(clusters, dtype=np.intp), np.frombuffer(smallest, dtype=np.bool_)
    return _Outlook(
        repeats=repeats,
        whole=design(np.frombuffer(strata, dtype=np.intp), by_cluster),
        smallest_cell=design(np.zeros(int(is_smallest.sum()), dtype=np.intp), by_cluster[is_smallest]),
        primary=primary,
        exploratory=exploratory,
        lost=lost,
        icc=icc,
    )


def _pilot(store: "Store", job_id: str, rows: Sequence[Row], outlook: _Outlook) -> dict[str, Any]:
    """What the planned design detects where differences scatter, and trials get lost, as in the pilot."""
    from gnomon.report.sections.contrasts import compare_pair

    job = store.job(job_id)
    groups = [(model.label, arm.name) for model in job.spec.models for arm in job.spec.arms]
    scores = read_scores(rows, groups, clustered=job.spec.analysis.cluster == "auto")
    headline, everywhere = benchmark_called(job.spec.benchmark).headline, scores.everywhere()
    contrasts: list[dict[str, Any]] = []
    for pair in pairs(job.spec):
        result = compare_pair(scores, pair, "all", everywhere, headline=headline, repeats=job.spec.repeats)
        if result.comparison is None or result.comparison.se is None or result.grouping is None:
            continue
        spread = spread_of(result.differences, result.grouping, se=result.comparison.se)
        study = PlantedStudy(
            grouping=outlook.whole, spread=spread, repeats=outlook.repeats, lost=result.missing
        )
        detectable = outlook.of_study(study)
        contrasts.append(
            {
                "model": pair.model,
                "baseline": pair.baseline,
                "variant": pair.variant,
                "samples": result.comparison.n,
                "detectable": detectable.effect,
                "detectable_note": detectable.note,
            }
        )
    return {"job": job_id, "contrasts": contrasts}


def _assumptions(*, has_pilot: bool) -> list[str]:
    tokens = (
        f"{BYTES_PER_TOKEN} bytes per token; {PICTURE_TOKENS:,} tokens per picture, {REPLY_TOKENS} per "
        f"reply, {OBSERVATION_TOKENS} per tool result, {TYPICAL_CALLS} tool calls per trial with tools"
    )
    return [
        "arms that are in the pilot: its mean tokens per trial" if has_pilot else tokens,
        f"at most: every turn is used, every reply has max_tokens (if not set: {MOST_REPLY_TOKENS:,}) tokens",
    ]
