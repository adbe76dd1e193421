"""Counts how often each tool was called, how often badly, and what it alone is worth."""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.arm import Arm, diff
from gnomon.core.tool_inputs import provided_inputs
from gnomon.exchange.imported_job import AGENT
from gnomon.report.group_totals import ToolTotals
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.sections.arms import ArmsPart
from gnomon.report.sections.attribution import AttributionReport, attribution
from gnomon.report.text_formats import count
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Headline
from gnomon.statistics.paired import compare
from gnomon.stopping import while_wanted

UNKNOWN = "(names that no arm offers)"


class Effect(TypedDict):
    """The score of the arm `with_it` less that of the arm `without`."""

    without: str
    with_it: str
    diff: float
    ci95: Interval


class ToolEffect(TypedDict):
    """What one tool is worth to one model; None where no two arms tell it apart."""

    model: str
    leave_one_out: Effect | None
    add_one_in: Effect | None


class ToolUse(TypedDict):
    """How often a tool was called, and how often badly; the rates are shares of calls, None without calls."""

    calls: int
    samples_used: int
    samples: int
    bad_arguments: int
    errors: int
    bad_argument_rate: float | None
    error_rate: float | None


class ToolArm(ToolUse):
    """How one model under one arm used a tool."""

    model: str
    arm: str


class ToolReport(ToolUse):
    """How a tool was used by all, and what it alone is worth (None: no arms that would tell)."""

    tool: str
    offered: bool
    leave_one_out: float | None
    add_one_in: float | None
    shapley: float | None
    effects: list[ToolEffect]
    by_arm: list[ToolArm]


class ToolsPart(TypedDict):
    """Every tool that an arm offers, called or not; names models made up share a last entry."""

    tools: list[ToolReport]


class _Shown(ArmsPart, ToolsPart):
    """What the section shows."""


def _tools(report_input: ReportInput) -> ToolsPart:
    """The use and the worth of each tool.

    A tool is offered where it can serve samples of the benchmark, by an arm of which some trial was offered
    any: no other was in a request. The effects of a tool are means over models, None where no arms tell it
    apart; the Shapley value is that of a player who is this tool alone.
    """
    scores, spec, benchmark = report_input.scores, report_input.spec, report_input.benchmark
    offered = _offered(scores, spec)
    empty = _arms_offered_none(scores)
    provided = {
        name for arm in spec.arms if arm.name not in empty for name in provided_inputs(benchmark, arm.tools)
    }
    effects = _tool_effects(scores, spec, headline=benchmark.headline)
    attributions = report_input.part(attribution)["attributions"]
    names = sorted({name for tools in offered.values() for name in tools})
    if any(set(totals.tools) - set(names) for totals in scores.totals):
        names.append(UNKNOWN)
    reports = [_report(scores, name, offered) for name in names]
    for report in reports:
        report["offered"] &= report["tool"] in provided or report["calls"] > 0
        report["effects"] = effects.get(report["tool"], [])
        _add_means(report, attributions)
    return {"tools": reports}


def _add_means(report: ToolReport, attributions: list[AttributionReport]) -> None:
    left_out = [effect["leave_one_out"] for effect in report["effects"]]
    added = [effect["add_one_in"] for effect in report["effects"]]
    report["leave_one_out"] = _mean([effect["diff"] for effect in left_out if effect])
    report["add_one_in"] = _mean([effect["diff"] for effect in added if effect])
    report["shapley"] = _mean(
        [
            value["value"]
            for by_model in attributions
            for value in by_model["values"]
            if value["tools"] == [report["tool"]]
        ]
    )


def _offered(scores: ScoreMatrix, spec: JobSpec) -> dict[str, tuple[str, ...]]:
    """The tools of each arm; of an arm that was run elsewhere those that were called."""
    offered = {arm.name: spec.arm(arm.name).tools for arm in spec.arms if arm.agent != AGENT}
    for arm in (arm.name for arm in spec.arms if arm.agent == AGENT):
        of_arm = [
            totals for (_, name), totals in zip(scores.groups, scores.totals, strict=True) if name == arm
        ]
        offered[arm] = tuple(sorted({tool for totals in of_arm for tool in totals.tools}))
    return offered


def _tool_effects(scores: ScoreMatrix, spec: JobSpec, *, headline: Headline) -> dict[str, list[ToolEffect]]:
    """By tool and model: the score with all tools less that without this one, and with it alone less none.

    Two arms tell a tool apart if they differ in that tool and in nothing else. Leave-one-out takes the arm
    with the most tools, add-one-in the one with none.
    """
    effects: dict[str, list[ToolEffect]] = {}
    arms = spec.arms
    for tool in while_wanted(sorted({name for arm in arms for name in arm.tools})):
        without_one = next(_apart(arms, tool, leaves=True), None)
        with_one = next(_apart(arms, tool, leaves=False), None)
        if without_one or with_one:
            effects[tool] = [
                {
                    "model": model.label,
                    "leave_one_out": _effect(scores, model.label, without_one, headline),
                    "add_one_in": _effect(scores, model.label, with_one, headline),
                }
                for model in spec.models
            ]
    return effects


def _apart(arms: list[Arm], tool: str, *, leaves: bool) -> Iterator[tuple[str, str]]:
    """Pairs of arms, the one without the tool first, that differ in it alone; the fittest first."""
    by_tools: dict[frozenset[str], list[Arm]] = {}
    for arm in arms:
        by_tools.setdefault(frozenset(arm.tools), []).append(arm)
    pairs = [
        (without, with_it)
        for without in arms
        if tool not in without.tools
        for with_it in by_tools.get(frozenset((*without.tools, tool)), ())
    ]
    pairs.sort(key=lambda pair: -len(pair[1].tools) if leaves else len(pair[0].tools))
    for without, with_it in pairs:
        changed = [difference.field for difference in diff(without, with_it)]
        if (leaves or not without.tools) and changed == ["tools"]:
            yield without.name, with_it.name


def _effect(
    scores: ScoreMatrix, model: str, pair: tuple[str, str] | None, headline: Headline
) -> Effect | None:
    if pair is None:
        return None
    without, with_it = (scores.at[(model, arm)] for arm in pair)
    both = (scores.answered[without] > 0) & (scores.answered[with_it] > 0)
    if not both.any():
        return None
    grouping = scores.design(both, headline)
    comparison = compare(scores.means(without)[both], scores.means(with_it)[both], grouping)
    return {
        "without": pair[0],
        "with_it": pair[1],
        "diff": comparison.diff,
        "ci95": interval(comparison.ci95),
    }


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _arms_offered_none(scores: ScoreMatrix) -> set[str]:
    """The arms whose trials were all offered no tool; an arm that does not say is none of them."""
    most: dict[str, float] = {}
    for (_, arm), totals in zip(scores.groups, scores.totals, strict=True):
        of_group = totals.tools_offered[1] if totals.tools_offered else math.inf
        most[arm] = max(most.get(arm, 0), of_group)
    return {arm for arm, tools in most.items() if tools == 0}


def _report(scores: ScoreMatrix, tool: str, offered: Mapping[str, tuple[str, ...]]) -> ToolReport:
    listed = {name for tools in offered.values() for name in tools}
    all_arms = ToolTotals()
    samples = np.zeros(len(scores.samples), np.bool_)
    by_arm: list[ToolArm] = []
    for group, (model, arm) in enumerate(scores.groups):
        tools = scores.totals[group].tools
        names = set(tools) - listed if tool == UNKNOWN else {tool} & set(tools)
        if not names and tool not in offered.get(arm, ()):
            continue
        totals = _sum([tools[name] for name in names])
        begun = scores.answered[group] + scores.missing[group] > 0
        by_arm.append({**_used(totals, samples=int(begun.sum())), "model": model, "arm": arm})
        all_arms = _sum([all_arms, totals])
        samples |= begun
    return {
        **_used(all_arms, samples=int(samples.sum())),
        "tool": tool,
        "offered": tool != UNKNOWN,
        "leave_one_out": None,
        "add_one_in": None,
        "shapley": None,
        "effects": [],
        "by_arm": by_arm,
    }


def _used(totals: ToolTotals, *, samples: int) -> ToolUse:
    calls = totals.calls
    return {
        "calls": calls,
        "samples_used": len(totals.samples),
        "samples": samples,
        "bad_arguments": totals.bad_arguments,
        "errors": totals.errors,
        "bad_argument_rate": totals.bad_arguments / calls if calls else None,
        "error_rate": totals.errors / calls if calls else None,
    }


def _sum(parts: list[ToolTotals]) -> ToolTotals:
    return ToolTotals(
        calls=sum(totals.calls for totals in parts),
        bad_arguments=sum(totals.bad_arguments for totals in parts),
        errors=sum(totals.errors for totals in parts),
        samples=np.unique(np.concatenate([ToolTotals().samples, *(totals.samples for totals in parts)])),
    )


def unused_tools(report: _Shown) -> list[str]:
    """Sentences on tools without calls: those that were offered, and those that fitted no sample."""
    if all(arm["model_calls"] == 0 for arm in report["arms"]):
        return []  # no model was asked, so nothing was offered
    idle = [tool for tool in report["tools"] if not tool["calls"]]
    offered = [tool["tool"] for tool in idle if tool["offered"]]
    unfit = [tool["tool"] for tool in idle if not tool["offered"]]
    lines = [f"Offered and never called ({len(offered)}): {', '.join(offered)}."] if offered else []
    if unfit:
        lines.append(f"Never offered, as no sample has what they need ({len(unfit)}): {', '.join(unfit)}.")
    return lines


def _view(report: _Shown) -> Mapping[str, object] | None:
    if not report["tools"]:
        return None
    worths = [
        worth
        for tool in report["tools"]
        for worth in (tool["leave_one_out"], tool["add_one_in"], tool["shapley"])
    ]
    return {
        "tool_worth": any(worth is not None for worth in worths),
        "called_tools": [tool for tool in report["tools"] if tool["calls"]],
        "unused_tools": unused_tools(report),
    }


def _digest(report: ToolsPart) -> str:
    calls = sum(tool["calls"] for tool in report["tools"])
    called = sum(bool(tool["calls"]) for tool in report["tools"])
    return f"{count(calls, 'call')} of {count(called, 'tool')}"


tools = Section(
    name="tools",
    title="How the tools were used",
    question="Which tools were called, how often badly, and what is each one worth?",
    fields=ToolsPart,
    compute=_tools,
    place=70,
    view=_view,
    digest=_digest,
)
