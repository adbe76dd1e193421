"""The report as Markdown, for a pull request or a note."""

from collections.abc import Iterator, Sequence

from gnomon.report.extra_metrics import ALL
from gnomon.report.missing import MissingRow, preflight_text
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.schema import AdapterChange, ContrastReport, Report
from gnomon.report.shapes import Interval, Waterfall
from gnomon.report.tool_use import unused_tools
from gnomon.report.verdict import p_text, percent, points

# What can start a link, a table cell, a heading, emphasis, code or HTML.
SPECIAL = {ord(mark): f"\\{mark}" for mark in "\\`*_{}[]()<>#+!|~"} | {10: " ", 13: " "}


def render_markdown(report: Report) -> str:
    """The report's main tables as Markdown; names and causes from outside are escaped."""
    return escape_surrogates("\n".join(_lines(report)) + "\n")


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is, on one line.

    >>> print(escaped("<b>|*x*"))
    \<b\>\|\*x\*
    """
    return text.translate(SPECIAL)


def _lines(report: Report) -> Iterator[str]:
    job = report["job"]
    yield f"# {escaped(job['name'] or job['benchmark'])}"
    yield ""
    facts = (job["benchmark"], f"version {job['benchmark_version']}", f"{report['protocol']} prompt")
    yield escaped(" · ".join((*facts, f"{report['scoring']} scoring", f"job {job['id']}", job["status"])))
    yield ""
    yield from (f"- **{escaped(alert)}**" for alert in report["alerts"])
    for line in report["summary"] or ["One arm only: nothing to compare."]:
        yield f"- {escaped(line)}"
    yield from _section("Arms (percent)", ("model", "arm", "aggregate", "95 %", "samples"), _arms(report))
    yield from _section(
        "Differences (points)",
        ("model", "arms", "scope", "diff", "95 %", "n", "clusters", "p adj.", "rescued : broken", "verdict"),
        [_contrast(one) for one in report["contrasts"]],
    )
    yield from _section(
        "Tools", ("tool", "calls", "samples used", "bad arguments %", "errors %"), _tools(report)
    )
    yield from (part for line in unused_tools(report) for part in ("", escaped(line)))
    for one in report["waterfalls"]:
        title = f"{escaped(one['model'])}, step by step (points, {one['n']:,} samples)"
        yield from _section(title, ("from", "to", "diff", "95 %"), _steps(one))
    floors = [
        (escaped(row["rule"]), cell, percent(found["mean"]), str(found["n"]))
        for row in report["floors"]
        for cell, found in row["by_task"].items()
    ]
    yield from _section("Rules without a model (percent)", ("rule", "cell", "mean", "n"), floors)
    measured = [
        (row["measure"], row["model"], row["arm"], f"{found['mean']:.3g}", str(found["n"]))
        for row in report["measures"]
        if (found := row["by_task"].get(ALL))
    ]
    yield from _section("Measures besides the score", ("measure", "model", "arm", "mean", "n"), measured)
    if report["published"]:
        rows = [(row["model"], row["group"], percent(row["aggregate"])) for row in report["published"]]
        yield from _section("Published (percent)", ("model", "group", "aggregate"), rows)
        yield ""
        yield from (f"> {escaped(note)}" for note in report["published_notes"])
    yield from _section("Integrity", ("what", "value"), _integrity(report))


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", f"## {title}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}")
    yield from (f"| {' | '.join(map(escaped, row))} |" for row in rows)


def _arms(report: Report) -> list[tuple[str, ...]]:
    return [
        (
            arm["model"],
            arm["arm"],
            percent(arm["aggregate"]),
            _percents(arm["aggregate_ci95"]),
            f"{arm['n']:,} of {arm['planned']:,}",
        )
        for arm in report["arms"]
    ]


def _contrast(one: ContrastReport) -> tuple[str, ...]:
    ends = one["ci95"]
    return (
        one["model"],
        f"{one['variant']} − {one['baseline']}",
        one["scope"],
        "–" if one["diff"] is None else points(one["diff"]),
        f"{points(ends[0])} to {points(ends[1])}" if ends else "–",
        str(one["n"]),
        str(one["clusters"]),
        p_text(one["p_adjusted"]),
        f"{one['rescued']} : {one['broken']}",
        one["verdict"],
    )


def _steps(one: Waterfall) -> list[tuple[str, ...]]:
    return [
        (
            step["baseline"],
            step["variant"],
            points(step["diff"]),
            f"{points(step['ci95'][0])} to {points(step['ci95'][1])}" if step["ci95"] else "–",
        )
        for step in one["steps"]
    ]


def _tools(report: Report) -> list[tuple[str, ...]]:
    return [
        (
            tool["tool"],
            str(tool["calls"]),
            f"{tool['samples_used']} of {tool['samples']}",
            percent(tool["bad_argument_rate"]),
            percent(tool["error_rate"]),
        )
        for tool in report["tools"]
        if tool["calls"]
    ]


def _integrity(report: Report) -> list[tuple[str, str]]:
    facts, trials = report["integrity"], report["denominators"]["trials"]
    of = f"of {trials['finished']}"
    return [
        ("missing", f"{trials['infra_missing']} {of}: {_causes(facts['missing_by_cause'])}"),
        *((f"… {row['model']}, {row['cause']}", _lost(row)) for row in facts["missing"]),
        ("failed", f"{trials['model_failed']} {of}: {_causes(facts['failed_by_cause'])}"),
        *(
            (f"bounds, {one['model']}: {one['variant']}", f"{points(one['low'])} to {points(one['high'])}")
            for one in facts["bounds"]
        ),
        *(("deviation from the plan", text) for text in report["plan"]["deviations"]),
        *(
            (f"changed by the adapter, {one['model']}, {one['arm']}", _changed(one))
            for one in facts["adapter_changes"]
        ),
        ("comparisons looked at", str(facts["comparisons"])),
        ("flags", _causes(facts["flags"])),
        ("data faults", _causes(facts["data_faults"])),
        *_cached(report),
        *((f"preflight, {check['model']}", preflight_text(check)) for check in report["preflights"]),
        *((f"decoding, {task}", _drawn(drawn)) for task, drawn in facts["decoding"].items()),
        ("spec", facts["spec_hash"]),
        ("Gnomon", facts["gnomon_version"]),
    ]


def _lost(row: MissingRow) -> str:
    said = f": {row['error']}" if row["error"] else ""
    return f"{row['trials']:,} of {row['planned']:,}{said}"


def _cached(report: Report) -> Iterator[tuple[str, str]]:
    """Replies from the cache, of how many: in all, and by arm where there are any."""
    cost = report["cost"]
    yield "replies from the cache", f"{cost['cache_hits']:,} of {cost['model_calls']:,}"
    for one in cost["by_arm"] if cost["cache_hits"] else ():
        yield f"… {one['model']}, {one['arm']}", f"{one['cache_hits']:,} of {one['model_calls']:,}"


def _changed(one: AdapterChange) -> str:
    return f"{one['change']}: in {one['trials']:,} of {one['all_trials']:,} trials"


def _drawn(settings: dict[str, float | int]) -> str:
    return ", ".join(f"{name} {value:,g}" for name, value in settings.items())


def _causes(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items()) or "none"


def _percents(ends: Interval) -> str:
    return f"{percent(ends[0])} to {percent(ends[1])}" if ends else "–"
