"""Shows the comparison of each arm with its baseline, over the same samples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NotRequired

from markupsafe import Markup

from gnomon.report.charts import Mark, difference_plot
from gnomon.report.comparing import all_contrasts
from gnomon.report.contrast import (
    ContrastReport,
    ContrastsPart,
    PooledCells,
    as_shown,
    by_pair,
    comparisons,
)
from gnomon.report.section import ReportInput, Section, pair_key
from gnomon.report.sections.job import JobPart
from gnomon.report.text_formats import (
    deciding,
    label,
    points,
    points_brackets,
    short,
)
from gnomon.stopping import while_wanted


class _Shown(JobPart, ContrastsPart):
    """What the section shows."""

    pooled: NotRequired[list[PooledCells]]  # of a package, which may be absent


def _contrasts(report_input: ReportInput) -> ContrastsPart:
    return {"contrasts": all_contrasts(report_input)}


def _view(report: _Shown) -> Mapping[str, object]:
    return {"overview": _overview(report), "details": _details(report)}


def _overview(report: _Shown) -> Markup | None:
    """One row for each comparison over all samples, where there are several."""
    over_all = comparisons(report)
    is_one_model = len({contrast["model"] for contrast in over_all}) == 1
    marks = []
    for contrast in over_all:
        arms = f"{contrast['variant']} − {contrast['baseline']}"
        marks.append(
            _mark(as_shown(contrast), short(arms) if is_one_model else label(contrast["model"], arms))
        )
    if len(marks) < 2:
        return None
    title = "Differences of all comparisons, points"
    return difference_plot(marks, title=title, margin=report["job"]["margin"])


def _details(report: _Shown) -> Iterator[tuple[ContrastReport, Markup, Sequence[ContrastReport]]]:
    """Each comparison with the plot of its cells and the rows behind it."""
    pooled = {
        (*pair_key(cells), cell["scope"]): cell["diff"]
        for cells in report.get("pooled", ())
        for cell in cells["cells"]
    }
    for pair, rows in while_wanted(by_pair(map(as_shown, report["contrasts"])).items()):
        marks = [
            replace(_mark(contrast, short(contrast["scope"])), pooled=pooled.get((*pair, contrast["scope"])))
            for contrast in rows
        ]
        title = f"{pair[2]} against {pair[1]} ({pair[0]}), difference by subset, points"
        picture = difference_plot(marks, title=title, margin=report["job"]["margin"])
        yield from ((contrast, picture, rows) for contrast in rows if contrast["scope"] == "all")


def _mark(contrast: ContrastReport, name: str) -> Mark:
    size = "" if contrast["diff"] is None else points(contrast["diff"])
    ends, level = deciding(contrast)
    sure = points_brackets(ends) + (f" {level} %" if level != 95 else "")
    return Mark(
        label=name,
        value=contrast["diff"],
        interval=ends,
        note=f"{size}{sure}  n={contrast['n']}",
        kind=contrast["verdict"],
        is_total=contrast["scope"] == "all",
        margin=contrast.get("margin"),  # absent from reports of older versions
    )


contrasts = Section(
    name="contrasts",
    title="All comparisons at a glance",
    question="What did each arm change against its baseline, over the same samples, and where?",
    fields=ContrastsPart,
    compute=_contrasts,
    place=50,
    view=_view,
)
