"""The report as one HTML file that needs nothing else."""

import base64
import functools
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gnomon.report.forest import Mark, Plot, plot
from gnomon.report.schema import ArmReport, Contrast, Report
from gnomon.report.table import printable
from gnomon.report.verdict import count, p_text, percent, points

SIGNS = {"helps": "▲", "hurts": "▼", "no_effect": "=", "undecided": "?"}
LABEL_CHARS = 27
HEADINGS = {
    "helps": "Helps",
    "hurts": "Hurts",
    "no_effect": "No effect",
    "undecided": "Can’t be told",
}


def render_html(report: Report) -> str:
    """The report as a self-contained page: no script, no request; everything from outside is escaped."""
    primary = [one for one in report["contrasts"] if one["family"] == "primary"]
    page = (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            primary=primary,
            others=[
                one for one in report["contrasts"] if one["family"] == "exploratory" and one["scope"] == "all"
            ],
            overview=_overview(report),
            details=[_details(report, one) for one in report["contrasts"] if one["scope"] == "all"],
            arm_plot=_arm_plot(report["arms"]),
            cells=sorted({cell for arm in report["arms"] for cell in arm["by_task"]}),
            signs=SIGNS,
            headings=HEADINGS,
        )
    )
    return printable(page)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gnomon.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "points": points,
        "percent": percent,
        "p": p_text,
        "count": count,
        "dollars": _dollars,
        "picture": _picture,
    }
    return environment


def _overview(report: Report) -> Plot:
    """One line for each comparison over all samples."""
    chosen = [one for one in report["contrasts"] if one["scope"] == "all"]
    marks = [_mark(one, _named(one["model"], f"{one['variant']} − {one['baseline']}")) for one in chosen]
    return plot(marks, margin=report["job"]["margin"])


def _details(report: Report, whole: Contrast) -> tuple[Contrast, Plot, Sequence[Contrast]]:
    """A comparison with the plot of its cells and the rows behind it."""
    key = (whole["model"], whole["baseline"], whole["variant"])
    rows = [one for one in report["contrasts"] if (one["model"], one["baseline"], one["variant"]) == key]
    marks = [_mark(one, _short(one["scope"], LABEL_CHARS)) for one in rows]
    return whole, plot(marks, margin=report["job"]["margin"]), rows


def _mark(one: Contrast, label: str) -> Mark:
    ends = one["ci95"]
    size = "" if one["diff"] is None else points(one["diff"])
    between = f" [{points(ends[0])}, {points(ends[1])}]" if ends else ""
    return Mark(
        label=label,
        value=one["diff"],
        interval=ends,
        note=f"{size}{between}  n={one['n']}",
        kind=one["verdict"],
        is_total=one["scope"] == "all",
    )


def _arm_plot(arms: Sequence[ArmReport]) -> Plot:
    """One line for each arm's aggregate, on the whole scale."""
    marks = [
        Mark(
            label=_named(arm["model"], arm["arm"]),
            value=arm["aggregate"],
            interval=arm["aggregate_ci95"],
            note=percent(arm["aggregate"]) + _between(arm),
            kind="arm",
            is_total=True,
        )
        for arm in arms
    ]
    return plot(marks, limits=(0.0, 1.0))


def _between(arm: ArmReport) -> str:
    ends = arm["aggregate_ci95"]
    return f" [{percent(ends[0])}, {percent(ends[1])}]  n={arm['n']}" if ends else f"  n={arm['n']}"


def _dollars(value: float) -> str:
    """Dollars to the cent, below one dollar to a hundredth of a cent.

    >>> _dollars(1234.5), _dollars(0.0123), _dollars(0.0)
    ('$1,234.50', '$0.0123', '$0.00')
    """
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def _picture(svg: str) -> Markup:
    """An SVG as an image of its own, in which no script can run whatever a stored row holds."""
    data = base64.b64encode(printable(svg).encode()).decode()
    return Markup('<img alt="" src="data:image/svg+xml;base64,{}">').format(data)


def _named(model: str, arms: str) -> str:
    """A model, without its provider's prefix, and its arms, as long as the plot has room for."""
    arms = _short(arms, LABEL_CHARS - 8)
    return f"{_short(model.rpartition('/')[2], LABEL_CHARS - len(arms) - 2)}, {arms}"


def _short(text: str, chars: int) -> str:
    """The text, cut in the middle where it is longer.

    >>> _short("abcdefgh", 5)
    'ab…gh'
    """
    half = (chars - 1) // 2
    return text if len(text) <= chars else f"{text[: chars - 1 - half]}…{text[-half:]}"
