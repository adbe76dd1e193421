"""Renders the report, or the difference of two jobs, as a few lines for a terminal."""

from gnomon.report.changed_trials import Changes, TrialEnd
from gnomon.report.report import Report
from gnomon.report.section import sections
from gnomon.report.text_formats import count

CHANGES_SHOWN = 10


def summary_text(report: Report) -> str:
    """What was found, the arms' figures, and what is missing; plain text without a final newline."""
    return "\n".join(line for section in sections() if section.terminal for line in section.terminal(report))


def changes_text(changes: Changes) -> str:
    """Which trials of two jobs ended otherwise, the first few by name."""
    total = count(changes["trials"], "trial")
    counts = f"scores {changes['scores']:,}, answers {changes['answers']:,}, outcomes {changes['outcomes']:,}"
    lines = [f"Changed among the {total} in both jobs: {counts}."]
    for trial in changes["listed"][:CHANGES_SHOWN]:
        repeat = f", repeat {trial['repeat']}" if trial["repeat"] else ""
        ends = f"{_end(trial['first'])} → {_end(trial['second'])}"
        lines.append(f"  {trial['sample_id']}, {trial['model']}{repeat}: {ends}")
    more = len(changes["listed"]) - CHANGES_SHOWN
    return "\n".join([*lines, f"  and {more:,} more"] if more > 0 else lines)


def _end(end: TrialEnd) -> str:
    score = "no score" if end["score"] is None else f"{end['score']:.3f}"
    return f"{score} ({'no answer' if end['answer'] is None else repr(end['answer'])})"
