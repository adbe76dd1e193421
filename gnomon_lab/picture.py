"""Draws a report as one SVG that needs nothing else: its verdicts, its arms, and what they change."""

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from gnomon.drawing.labels import text_width
from gnomon.report.row_formats import escape_surrogates
from gnomon_analyses.paper.chart_file import chart_style, charts_in

if TYPE_CHECKING:
    from gnomon.report.report import Report as ReportData

WIDTH, EDGE = 900.0, 18.0
LETTERS, LINE = 15.0, 21.0
FONT = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif"


def report_svg(report: "ReportData", *, has_words: bool = True) -> str:
    """The report's charts under each other; `has_words` puts its verdicts above them."""
    parts: list[str] = []
    top = EDGE
    if has_words:
        for line in _wrapped(_verdicts(report)):
            parts.append(f'<text class="says" x="{EDGE:g}" y="{top + LETTERS:g}">{escape(line)}</text>')
            top += LINE
        top += 6
    for title, figure in _charts(report):
        drawing = next((chart for chart in charts_in(figure) if chart.size == "at-wide"), None)
        if drawing is None:
            continue
        parts.append(f'<text class="head" x="{EDGE:g}" y="{top + 14:g}">{escape(title)}</text>')
        parts.append(f'<g class="plot" transform="translate({EDGE:g} {top + 26:g})">{drawing.drawing}</g>')
        top += 26 + drawing.height * min(1.0, WIDTH / drawing.width) + 8
    width, height = WIDTH + 2 * EDGE, top + EDGE - 8
    return escape_surrogates(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family="{escape(FONT)}">'
        f"<title>{escape(_verdicts(report))}</title><style>{_style()}</style>"
        f'<rect class="card" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="10"/>'
        f"{''.join(parts)}</svg>"
    )


def as_image(svg: str) -> str:
    """An SVG as an HTML image, in which no script can run."""
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<img alt="The charts of the report" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
    )


def _verdicts(report: "ReportData") -> str:
    return " ".join(report["summary"]) or "Nothing is compared."


def _charts(report: "ReportData") -> Iterator[tuple[str, Markup]]:
    from gnomon.report.section import SECTIONS  # late: sections take long to import

    if any(arm["aggregate"] is not None for arm in report["arms"]):
        view = _view(SECTIONS.get("arms"), report)
        yield "Scores of each arm, percent, with 95 % intervals", view["plot"]
    if any(contrast["diff"] is not None for contrast in report["contrasts"]):
        view = _view(SECTIONS.get("contrasts"), report)
        if view["overview"] is not None:
            yield "What each arm changes, points, with 95 % intervals, of no effect 90 %", view["overview"]
        else:
            for contrast, figure, _ in view["details"]:
                arms = f"{contrast['variant']} against {contrast['baseline']}"
                yield f"{arms}: difference over all samples (diamond) and by subset, points", figure


def _view(section: Any, report: "ReportData") -> Any:
    return section.view(report)


def _wrapped(text: str) -> Iterator[str]:
    """The text in lines that fit."""
    line: list[str] = []
    for word in text.split():
        if line and text_width(" ".join([*line, word])) * LETTERS > WIDTH:
            yield " ".join(line)
            line = []
        line.append(word)
    yield " ".join(line)


def _style() -> str:
    """The report's rules for charts, and those of this picture."""
    return (
        f"{chart_style()}.card{{fill:#fff;stroke:#dcdad3}}.says{{fill:#1b2430;font-size:15px;font-weight:600}}"
        ".head{fill:#566071;font-size:13px}text{font-variant-numeric:tabular-nums}"
    )
