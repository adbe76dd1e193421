"""The report for a terminal: a few lines."""

from gnomon.report.changed_trials import Changes, TrialEnd
from gnomon.report.schema import Report
from gnomon.report.verdict import count, percent

CHANGES_SHOWN = 10


def summary_text(report: Report) -> str:
    """What was found, the arms' figures, and what is missing; plain text without a final newline."""
    job, trials = report["job"], report["denominators"]["trials"]
    lines = [f"{job['name'] or job['benchmark']} ({job['status']})", ""]
    lines += [f"! {alert}" for alert in report["alerts"]] + [""] * bool(report["alerts"])
    if trials["scored"] or trials["model_failed"] or not trials["infra_missing"]:
        lines += [*(report["summary"] or ["One arm only: nothing to compare."]), ""]
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


def changes_text(changes: Changes) -> str:
    """Which trials of two jobs ended otherwise, the first few by name."""
    total = count(changes["trials"], "trial")
    counts = f"scores {changes['scores']:,}, answers {changes['answers']:,}, outcomes {changes['outcomes']:,}"
    lines = [f"Changed among the {total} in both jobs: {counts}."]
    for one in changes["listed"][:CHANGES_SHOWN]:
        repeat = f", repeat {one['repeat']}" if one["repeat"] else ""
        lines.append(
            f"  {one['sample_id']}, {one['model']}{repeat}: {_end(one['first'])} → {_end(one['second'])}"
        )
    more = len(changes["listed"]) - CHANGES_SHOWN
    return "\n".join([*lines, f"  and {more:,} more"] if more > 0 else lines)


def _end(end: TrialEnd) -> str:
    score = "no score" if end["score"] is None else f"{end['score']:.3f}"
    return f"{score} ({'no answer' if end['answer'] is None else repr(end['answer'])})"
