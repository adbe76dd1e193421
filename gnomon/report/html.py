"""The report as one HTML file that needs nothing else."""

import base64
import functools
from collections.abc import Sequence
from dataclasses import replace

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gnomon.report.contrasts import by_pair
from gnomon.report.curves import Chart, Curve, chart
from gnomon.report.extra_metrics import ALL, MetricMean
from gnomon.report.forest import Mark, Plot, plot
from gnomon.report.missing import preflight_text
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.schema import ArmReport, ContrastReport, Report
from gnomon.report.tool_use import unused_tools
from gnomon.report.verdict import count, p_text, percent, points
from gnomon.stopping import while_wanted

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
        .generate(
            report=report,
            primary=primary,
            others=[
                one for one in report["contrasts"] if one["family"] == "exploratory" and one["scope"] == "all"
            ],
            overview=_overview(report),
            details=_details(report),
            arm_plot=_arm_plot(report["arms"]),
            cells=sorted({cell for arm in report["arms"] for cell in arm["by_task"]}),
            groups=[(arm["model"], arm["arm"]) for arm in report["arms"]],
            measures=_measures(report),
            reliability_charts=_reliability_charts(report),
            tool_worth=any(
                tool[key] is not None
                for tool in report["tools"]
                for key in ("leave_one_out", "add_one_in", "shapley")
            ),
            called_tools=[tool for tool in report["tools"] if tool["calls"]],
            unused_tools=unused_tools(report),
            signs=SIGNS,
            headings=HEADINGS,
        )
    )
    return escape_surrogates("".join(while_wanted(page)))


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
        "short": _short,
        "signed": _signed,
        "gain": _gain,
        "picture": _picture,
        "preflight": preflight_text,
    }
    return environment


def _overview(report: Report) -> Plot:
    """One line for each comparison over all samples."""
    chosen = [one for one in report["contrasts"] if one["scope"] == "all"]
    alone = len({one["model"] for one in chosen}) == 1
    arms = [f"{one['variant']} − {one['baseline']}" for one in chosen]
    names = [
        _short(pair, LABEL_CHARS) if alone else _named(one["model"], pair)
        for one, pair in zip(chosen, arms, strict=True)
    ]
    marks = [_mark(one, name) for one, name in zip(chosen, names, strict=True)]
    return plot(marks, margin=report["job"]["margin"])


def _details(report: Report) -> list[tuple[ContrastReport, Plot, Sequence[ContrastReport]]]:
    """Each comparison with the plot of its cells and the rows behind it."""
    calm = {
        (cells["model"], cells["baseline"], cells["variant"], cell["scope"]): cell["diff"]
        for cells in report["pooled"]
        for cell in cells["cells"]
    }
    found: list[tuple[ContrastReport, Plot, Sequence[ContrastReport]]] = []
    for pair, rows in while_wanted(by_pair(report["contrasts"]).items()):
        marks = [
            replace(_mark(one, _short(one["scope"], LABEL_CHARS)), calm=calm.get((*pair, one["scope"])))
            for one in rows
        ]
        drawn = plot(marks, margin=report["job"]["margin"])
        found += [(one, drawn, rows) for one in rows if one["scope"] == "all"]
    return found


def _mark(one: ContrastReport, label: str) -> Mark:
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


def _reliability_charts(report: Report) -> list[tuple[str, Chart]]:
    """By model, the curves of its arms; arms without any scored trial are left out."""
    charts: list[tuple[str, Chart]] = []
    for model in dict.fromkeys(one["model"] for one in report["reliability"]["curves"]):
        curves = [
            Curve(
                label=_short(one["arm"], LABEL_CHARS),
                points=[(at["k"], at["mean"], at["ci95"]) for at in one["points"] if at["mean"] is not None],
            )
            for one in report["reliability"]["curves"]
            if one["model"] == model
        ]
        drawn = [curve for curve in curves if len(curve.points) > 1]
        if drawn:
            ks = sorted({int(x) for curve in drawn for x, _, _ in curve.points})
            charts.append((model, chart(drawn, x_ticks=[(k, str(k)) for k in ks])))
    return charts


def _signed(value: float | None) -> str:
    """A difference of dollars or seconds, to three digits.

    >>> _signed(0.01234), _signed(-2.0), _signed(None)
    ('+0.0123', '−2', '–')
    """
    return "–" if value is None else f"{value:+.3g}".replace("-", "−")


def _gain(value: float) -> str:
    """Points for a unit of cost, to three digits.

    >>> _gain(0.1234), _gain(-3.0)
    ('12.3', '−300')
    """
    size = 100 * value
    return (f"{size:,.0f}" if abs(size) >= 100 else f"{size:.3g}").replace("-", "−")


def _measures(report: Report) -> list[tuple[str, list[tuple[str, list[MetricMean | None]]]]]:
    """By cell, all of them first: each measure with its mean for every model under every arm."""
    found = {(row["measure"], row["model"], row["arm"]): row["by_task"] for row in report["measures"]}
    names = dict.fromkeys(row["measure"] for row in report["measures"])
    cells = sorted(
        {cell for by_task in found.values() for cell in by_task}, key=lambda cell: (cell != ALL, cell)
    )
    groups = [(arm["model"], arm["arm"]) for arm in report["arms"]]
    tables = []
    for cell in cells:
        rows = [(name, [found.get((name, *group), {}).get(cell) for group in groups]) for name in names]
        tables.append((cell, [(name, means) for name, means in rows if any(means)]))
    return tables


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
    data = base64.b64encode(escape_surrogates(svg).encode()).decode()
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
