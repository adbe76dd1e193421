"""The report's tools: how often each was called, and how often badly."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gnomon.report.group_totals import ToolTotals
from gnomon.report.schema import Report, ToolArm, ToolReport, ToolUse
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.shapes import AttributionReport, ToolEffect

UNKNOWN = "(names that no arm offers)"


def tool_reports(
    ledger: ScoreMatrix,
    offered: Mapping[str, tuple[str, ...]],
    *,
    fitting: Collection[str],
    effects: Mapping[str, list[ToolEffect]],
    attributions: Sequence[AttributionReport],
) -> list[ToolReport]:
    """One entry for each tool that an arm offers, called or not; names models made up share a last one.

    `offered` names the tools by arm, `fitting` those that samples of the benchmark can serve: no other was
    in any request. The effects of a tool are means over models, None where no arms tell it
    apart; the Shapley value is that of a player who is this tool alone.
    """
    names = sorted({name for tools in offered.values() for name in tools})
    if any(set(tally.tools) - set(names) for tally in ledger.tallies):
        names.append(UNKNOWN)
    reports = [_report(ledger, name, offered) for name in names]
    for report in reports:
        report["offered"] &= report["tool"] in fitting or report["calls"] > 0
        mine = effects.get(report["tool"], [])
        report["effects"] = mine
        report["leave_one_out"] = _mean(
            [one["leave_one_out"]["diff"] for one in mine if one["leave_one_out"]]
        )
        report["add_one_in"] = _mean([one["add_one_in"]["diff"] for one in mine if one["add_one_in"]])
        report["shapley"] = _mean(
            [
                value["value"]
                for attribution in attributions
                for value in attribution["values"]
                if value["tools"] == [report["tool"]]
            ]
        )
    return reports


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _report(ledger: ScoreMatrix, tool: str, offered: Mapping[str, tuple[str, ...]]) -> ToolReport:
    known = {name for tools in offered.values() for name in tools}
    total = ToolTotals()
    concerned: set[int] = set()
    by_arm: list[ToolArm] = []
    for group, (model, arm) in enumerate(ledger.groups):
        tools = ledger.tallies[group].tools
        wanted = set(tools) - known if tool == UNKNOWN else {tool} & set(tools)
        if not wanted and tool not in offered.get(arm, ()):
            continue
        mine = _sum([tools[name] for name in wanted])
        begun = set(np.flatnonzero(ledger.answered[group] + ledger.missing[group]).tolist())
        by_arm.append({**_used(mine, samples=len(begun)), "model": model, "arm": arm})
        total = _sum([total, mine])
        concerned |= begun
    return {
        **_used(total, samples=len(concerned)),
        "tool": tool,
        "offered": tool != UNKNOWN,
        "leave_one_out": None,
        "add_one_in": None,
        "shapley": None,
        "effects": [],
        "by_arm": by_arm,
    }


def _used(tally: ToolTotals, *, samples: int) -> ToolUse:
    calls = tally.calls
    return {
        "calls": calls,
        "samples_used": len(tally.samples),
        "samples": samples,
        "bad_arguments": tally.bad_arguments,
        "errors": tally.errors,
        "bad_argument_rate": tally.bad_arguments / calls if calls else None,
        "error_rate": tally.errors / calls if calls else None,
    }


def _sum(tallies: list[ToolTotals]) -> ToolTotals:
    return ToolTotals(
        calls=sum(tally.calls for tally in tallies),
        bad_arguments=sum(tally.bad_arguments for tally in tallies),
        errors=sum(tally.errors for tally in tallies),
        samples=set().union(*(tally.samples for tally in tallies)),
    )


def unused_tools(report: Report) -> list[str]:
    """What to say of tools that nobody called: those that were offered, and those that fitted no sample."""
    if not any(arm["model_calls"] for arm in report["arms"]):
        return []  # no model was asked, so nothing was offered
    idle = [tool for tool in report["tools"] if not tool["calls"]]
    offered = [tool["tool"] for tool in idle if tool["offered"]]
    unfit = [tool["tool"] for tool in idle if not tool["offered"]]
    lines = [f"Offered and never called ({len(offered)}): {', '.join(offered)}."] if offered else []
    if unfit:
        lines.append(f"Never offered, as no sample has what they need ({len(unfit)}): {', '.join(unfit)}.")
    return lines
