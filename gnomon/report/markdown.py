"""Renders the report as Markdown, for a pull request or a note."""

from gnomon.report.report import Report
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.section import sections


def render_markdown(report: Report) -> str:
    """The report's main tables as Markdown; names and causes from outside are escaped."""
    ordered = sorted(sections(), key=lambda section: section.markdown_order)
    lines = [line for section in ordered if section.markdown for line in section.markdown(report)]
    return escape_surrogates("\n".join(lines) + "\n")
