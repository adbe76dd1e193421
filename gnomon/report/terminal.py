"""Renders the report as a few lines for a terminal."""

from gnomon.report.report import Report
from gnomon.report.section import sections


def summary_text(report: Report) -> str:
    """What was found, the arms' figures, and what is missing; plain text without a final newline."""
    return "\n".join(line for section in sections() if section.terminal for line in section.terminal(report))
