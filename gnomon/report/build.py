"""Building the report from stored rows, at any time."""

from collections.abc import Iterable, Mapping, Sequence

from gnomon.core.benchmark import Benchmark, provided_inputs
from gnomon.core.row import Row
from gnomon.core.sample import DataFault
from gnomon.exchange.foreign import benchmark_called
from gnomon.exchange.run import AGENT
from gnomon.report.arm_text import arm_text
from gnomon.report.arms import arm_report, trial_counts
from gnomon.report.attribution import attributions, tool_effects
from gnomon.report.contrasts import by_pair, contrasts
from gnomon.report.cost import cost
from gnomon.report.extra_metrics import ExtraMetrics
from gnomon.report.figures import Exhibits
from gnomon.report.flips import ReadTrace, flips
from gnomon.report.frontier import frontier
from gnomon.report.headline import answers
from gnomon.report.heuristics import HeuristicScores
from gnomon.report.integrity import integrity
from gnomon.report.missing import ModelCheckRow, alerts, missing_rows
from gnomon.report.pairs import pairs
from gnomon.report.plan import analysis_plan
from gnomon.report.pooled import pooled
from gnomon.report.reliability import reliability
from gnomon.report.schema import Denominators, JobInfo, PublishedRow, Report
from gnomon.report.score_matrix import ScoreMatrix, read_scores
from gnomon.report.tool_necessity import tool_necessity
from gnomon.report.tool_use import tool_reports
from gnomon.report.verdict import count
from gnomon.report.waterfall import waterfalls
from gnomon.spec.job_spec import JobSpec
from gnomon.stopping import while_wanted

UNFINISHED = ("queued", "running")


def _no_trace(_: str) -> None:
    return None


def build_report(
    *,
    job_id: str,
    spec: JobSpec,
    status: str,
    rows: Iterable[Row],
    planned: int,
    faults: Sequence[DataFault] = (),
    benchmark: Benchmark | None = None,
    trace: ReadTrace = _no_trace,
    error: str = "",
    checks: Sequence[ModelCheckRow] = (),
) -> Report:
    """The report of a job in any state, down to one without rows.

    `planned` counts trials. `benchmark` is the spec's own unless given. Rows are read once, so an iterator
    over a store will do; `trace` reads a stored trace by its trial's id. `error` says why a job failed, and
    `checks` what came of its models' preflights. The result holds plain data only
    and no number that is not finite.

    Raises:
        Unwanted: nobody waits for it any more, see `gnomon.stopping`.
    """
    plugin = benchmark or benchmark_called(spec.benchmark)
    groups = [(model.label, arm.name) for model in spec.models for arm in spec.arms]
    exhibits, floors, measures = Exhibits(plugin.name), HeuristicScores(), ExtraMetrics()
    watched = measures.tee(floors.tee(exhibits.tee(while_wanted(rows))))
    ledger = read_scores(watched, groups, clustered=spec.analysis.cluster == "auto")
    found = contrasts(ledger, spec, headline=plugin.headline, interim=status in UNFINISHED)
    compared, models = pairs(spec), [model.label for model in spec.models]
    mine_of = by_pair(found)
    attributed = attributions(ledger, spec, headline=plugin.headline)
    mine = planned // len(groups)
    missing = missing_rows(ledger, spec, planned=planned)
    fitting = {arm.name: provided_inputs(plugin, arm.tools) for arm in spec.arms}
    return {
        "job": _job_info(job_id, spec, status, plugin, error=error, texts=_arm_texts(ledger, spec, fitting)),
        "protocol": spec.protocol,
        "scoring": spec.scoring,
        "denominators": _denominators(ledger, spec, planned),
        "alerts": alerts(ledger, missing, spec, status=status, error=error, checks=checks, faults=faults),
        "answers": answers(found, models, benchmark=spec.benchmark),
        "summary": [one["verdict_text"] for one in found if one["family"] == "primary"],
        "arms": [
            arm_report(ledger, group, headline=plugin.headline, planned=mine, repeats=spec.repeats)
            for group in while_wanted(range(len(ledger.groups)))
        ],
        "contrasts": found,
        "flips": [flips(ledger, pair, trace=trace) for pair in while_wanted(compared)],
        "exhibits": exhibits.drawn(),
        "tools": tool_reports(
            ledger,
            _offered(ledger, spec),
            fitting={name for names in fitting.values() for name in names},
            effects=tool_effects(ledger, spec, headline=plugin.headline),
            attributions=attributed,
        ),
        "floors": floors.rows(),
        "measures": measures.rows(),
        "published": _published(plugin),
        "published_notes": _published_notes(spec, plugin, ledger),
        "plan": analysis_plan(ledger, spec, status=status, planned=planned),
        "waterfalls": waterfalls(ledger, models, spec.analysis.chain, headline=plugin.headline),
        "attributions": attributed,
        "called_needed": [tool_necessity(ledger, pair) for pair in while_wanted(compared)],
        "reliability": reliability(ledger, compared, repeats=spec.repeats),
        "frontier": frontier(ledger, compared, headline=plugin.headline),
        "pooled": [
            cells for pair in while_wanted(compared) if (cells := pooled(mine_of.get(pair.key, ()), pair))
        ],
        "preflights": list(checks),
        "cost": cost(ledger),
        "integrity": integrity(
            ledger, spec, benchmark=plugin, contrasts=found, faults=faults, missing=missing
        ),
    }


def _offered(ledger: ScoreMatrix, spec: JobSpec) -> dict[str, tuple[str, ...]]:
    """The tools of each arm; of an arm that was run elsewhere those that were called."""
    offered = {arm.name: spec.arm(arm.name).tools for arm in spec.arms if arm.agent != AGENT}
    for arm in (arm.name for arm in spec.arms if arm.agent == AGENT):
        tallies = [
            tally for (_, name), tally in zip(ledger.groups, ledger.tallies, strict=True) if name == arm
        ]
        offered[arm] = tuple(sorted({tool for tally in tallies for tool in tally.tools}))
    return offered


def _arm_texts(ledger: ScoreMatrix, spec: JobSpec, fitting: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Each arm in words, with how many of its tools its trials were offered."""
    texts = {}
    for arm in spec.arms:
        seen = [
            ends
            for (_, name), tally in zip(ledger.groups, ledger.tallies, strict=True)
            if name == arm.name and (ends := tally.tools_offered)
        ]
        offered = (min(least for least, _ in seen), max(most for _, most in seen)) if seen else None
        texts[arm.name] = arm_text(arm, fitting=fitting[arm.name], offered=offered)
    return texts


def _job_info(
    job_id: str, spec: JobSpec, status: str, plugin: Benchmark, *, error: str, texts: dict[str, str]
) -> JobInfo:
    primary = dict.fromkeys((pair.baseline, pair.variant) for pair in pairs(spec) if pair.is_primary)
    return {
        "id": job_id,
        "jobs": [],
        "name": spec.name,
        "status": status,
        "error": error,
        "benchmark": spec.benchmark,
        "benchmark_version": plugin.version,
        "headline": plugin.headline,
        "models": [model.label for model in spec.models],
        "arms": [arm.name for arm in spec.arms],
        "arm_texts": texts,
        "repeats": spec.repeats,
        "primary": [list(pair) for pair in primary],
        "margin": spec.analysis.margin,
        "cluster": spec.analysis.cluster,
    }


def _denominators(ledger: ScoreMatrix, spec: JobSpec, planned: int) -> Denominators:
    return {
        "trials": trial_counts(list(ledger.tallies), planned),
        "samples": len(ledger.samples),
        "clusters": len(set(ledger.clusters.tolist())),
        "cells": len(ledger.cell_names),
        "repeats": spec.repeats,
    }


def _published(plugin: Benchmark) -> list[PublishedRow]:
    return [
        {"model": row.model, "group": row.group, "aggregate": row.aggregate, "by_task": dict(row.by_task)}
        for row in plugin.published()
    ]


def _published_notes(spec: JobSpec, plugin: Benchmark, ledger: ScoreMatrix) -> list[str]:
    """What must be read beside the published rows; nothing where there are none."""
    if not plugin.published():
        return []
    samples = count(len(ledger.samples), "sample")
    notes = [
        "The published rows are the paper's own figures: its prompt, its scorer, all of its samples.",
        f"This job ran the {spec.protocol} prompt with {spec.scoring} scoring on {samples}.",
    ]
    if any(model.id == "reference" for model in spec.models):
        notes.append(
            "The built-in reference model reads the cameras' homographies, which the official prompt "
            "withholds, and sees no video: it answers another question than the published models did, "
            "and its figures must not be ranked with theirs."
        )
    if any(spec.arm(arm.name).tools for arm in spec.arms):
        notes.append("Arms with tools may use data of the scene that the published models never saw.")
    return notes
