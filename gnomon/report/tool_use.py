"""The report's tools: how often each was called, and how often badly."""

from collections.abc import Mapping

from gnomon.report.ledger import Ledger, ToolTally
from gnomon.report.schema import ToolArm, ToolReport

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
        total = _sum([total, mine])
        begun = (ledger.answered[group] + ledger.missing[group]) > 0
        concerned |= {int(sample) for sample in begun.nonzero()[0]}
        bad_rate, error_rate = _rates(mine)
        by_arm.append(
            {
                "model": model,
                "arm": arm,
                "calls": mine.calls,
                "samples_used": len(mine.samples),
                "samples": int(begun.sum()),
                "bad_arguments": mine.bad_arguments,
                "errors": mine.errors,
                "bad_argument_rate": bad_rate,
                "error_rate": error_rate,
            }
        )
    bad_rate, error_rate = _rates(total)
    return {
        "tool": tool,
        "offered": tool != UNKNOWN,
        "calls": total.calls,
        "samples_used": len(total.samples),
        "samples": len(concerned),
        "bad_arguments": total.bad_arguments,
        "errors": total.errors,
        "bad_argument_rate": bad_rate,
        "error_rate": error_rate,
        "leave_one_out": None,
        "add_one_in": None,
        "shapley": None,
        "by_arm": by_arm,
    }


def _sum(tallies: list[ToolTally]) -> ToolTally:
    return ToolTally(
        calls=sum(tally.calls for tally in tallies),
        bad_arguments=sum(tally.bad_arguments for tally in tallies),
        errors=sum(tally.errors for tally in tallies),
        samples=set().union(*(tally.samples for tally in tallies)),
    )


def _rates(tally: ToolTally) -> tuple[float | None, float | None]:
    if not tally.calls:
        return None, None
    return tally.bad_arguments / tally.calls, tally.errors / tally.calls
