"""The report's tools: how often each was called, and how often badly."""

from collections.abc import Mapping

import numpy as np

from gnomon.report.ledger import Ledger, ToolTally
from gnomon.report.schema import ToolArm, ToolReport, ToolUse

UNKNOWN = "(names that no arm offers)"


def tool_reports(ledger: Ledger, offered: Mapping[str, tuple[str, ...]]) -> list[ToolReport]:
    """One entry for each tool that an arm offers, called or not; names models made up share a last one.

    `offered` names the tools by arm. The effects of single tools are None: they need arms of their own.
    """
    names = sorted({name for tools in offered.values() for name in tools})
    reports = [_report(ledger, name, offered) for name in names]
    if any(set(tally.tools) - set(names) for tally in ledger.tallies):
        reports.append(_report(ledger, UNKNOWN, offered))
    return reports


def _report(ledger: Ledger, tool: str, offered: Mapping[str, tuple[str, ...]]) -> ToolReport:
    known = {name for tools in offered.values() for name in tools}
    total = ToolTally()
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
        "by_arm": by_arm,
    }


def _used(tally: ToolTally, *, samples: int) -> ToolUse:
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


def _sum(tallies: list[ToolTally]) -> ToolTally:
    return ToolTally(
        calls=sum(tally.calls for tally in tallies),
        bad_arguments=sum(tally.bad_arguments for tally in tallies),
        errors=sum(tally.errors for tally in tallies),
        samples=set().union(*(tally.samples for tally in tallies)),
    )
