"""The report for a terminal: a few lines."""

from gnomon.report.schema import Report
from gnomon.report.verdict import count, percent


def summary_text(report: Report) -> str:
    """What was found, the arms' figures, and what is missing; plain text without a final newline."""
    job, trials = report["job"], report["denominators"]["trials"]
    lines = [f"{job['name'] or job['benchmark']} ({job['status']})", ""]
    lines += report["summary"] or ["One arm only: nothing to compare."]
    lines.append("")
    names = [f"{arm['model']} / {arm['arm']}" for arm in report["arms"]]
    width = max(map(len, names), default=0)
    for name, arm in zip(names, report["arms"], strict=True):
        ci95 = arm["aggregate_ci95"]
        interval = f"  [{percent(ci95[0])}, {percent(ci95[1])}]" if ci95 else ""
        answered = f"{arm['n']:,} of {count(arm['planned'], 'sample')}"
        lines.append(f"{name:<{width}}  {percent(arm['aggregate']):>5} %{interval}  {answered}")
    ended = f"{trials['scored']:,} scored, {trials['model_failed']:,} failed by the model"
    missing = f"{trials['infra_missing']:,} missing, {trials['pending']:,} pending"
    lines += ["", f"Trials: {ended}, {missing}, of {trials['planned']:,}."]
    integrity = report["integrity"]
    for what, causes in (
        ("Missing", integrity["missing_by_cause"]),
        ("Failed by the model", integrity["failed_by_cause"]),
    ):
        if causes:
            by_number = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
            lines.append(f"{what}: {', '.join(f'{cause} {number:,}' for cause, number in by_number)}.")
    return "\n".join(lines)
