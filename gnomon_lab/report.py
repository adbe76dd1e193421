"""A job's report as an object: its fields, its words, its picture, and the files that can be made of it."""

import html
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gnomon.core.errors import SpecError
from gnomon.report.alert import line_of
from gnomon_lab.frames import Records, html_table

if TYPE_CHECKING:
    from gnomon.report.report import Report as ReportData

CONTRAST_COLUMNS = ("model", "baseline", "variant", "scope", "diff", "ci95", "n", "p_adjusted", "verdict")
ARM_COLUMNS = ("model", "arm", "aggregate", "aggregate_ci95", "n", "planned", "model_calls")
SIGNS = {"helps": "▲ helps", "hurts": "▼ hurts", "no_effect": "■ no effect", "undecided": "◇ undecided"}
SHOWN_CONTRASTS = 12
ENDINGS = (".html", ".md", ".json", ".svg")


class Report(Mapping[str, Any]):
    """A report: a mapping of the fields that docs/report.md describes, the most used ones as attributes.

    A notebook shows what was found, with its charts; `print` gives the words of the command line.
    """

    def __init__(self, data: Mapping[str, Any], *, page: Callable[[], str] | None = None) -> None:
        self._data = cast("ReportData", data)
        self._page = page

    def __getitem__(self, name: str) -> Any:
        return self._data[name]  # type: ignore[literal-required]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    @property
    def headline(self) -> str:
        """What was found, in one sentence for each primary comparison."""
        return " ".join(self._data["summary"])

    @property
    def contrasts(self) -> Records:
        """The paired comparisons of arms: over all samples first, then within each cell."""
        return Records(cast("Any", self._data["contrasts"]), columns=CONTRAST_COLUMNS)

    @property
    def arms(self) -> Records:
        """What each model scored under each arm."""
        return Records(cast("Any", self._data["arms"]), columns=ARM_COLUMNS)

    @property
    def alerts(self) -> list[str]:
        """What must be known before any figure."""
        return list(map(line_of, self._data["alerts"]))

    @property
    def html(self) -> str:
        """The whole report as one HTML file that needs nothing else."""
        if self._page is not None:
            return self._page()
        from gnomon.report.html import render_html  # late: it brings all that draws a report

        return render_html(self._data)

    @property
    def markdown(self) -> str:
        """The whole report as Markdown."""
        from gnomon.report.markdown import render_markdown  # late, as above

        return render_markdown(self._data)

    def save(self, path: str | Path) -> Path:
        """Write the report to a file: .html, .md, .json or, its picture, .svg.

        Raises:
            SpecError: the file has another ending.
        """
        file = Path(path)
        if file.suffix not in ENDINGS:
            raise SpecError(f"{file.name!r} has no known ending; allowed: {', '.join(ENDINGS)}", field="path")
        texts: dict[str, Callable[[], str]] = {
            ".html": lambda: self.html,
            ".md": lambda: self.markdown,
            ".json": lambda: json.dumps(self._data, indent=2, ensure_ascii=False) + "\n",
            ".svg": self._repr_svg_,
        }
        file.write_text(texts[file.suffix](), encoding="utf-8")
        return file

    def __str__(self) -> str:
        from gnomon.report.terminal import summary_text  # late, as above

        return summary_text(self._data)

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str:
        from gnomon_lab.picture import report_svg  # late, as above

        return report_svg(self._data)

    def _repr_html_(self) -> str:
        from gnomon_lab.picture import as_image, report_svg  # late, as above

        parts = [
            *self._head(),
            as_image(report_svg(self._data, has_words=False)),
            self._table(),
            self._foot(),
        ]
        return f'<div style="max-width:960px">{"".join(parts)}</div>'

    def _head(self) -> Iterator[str]:
        job = self._data["job"]
        yield f"<p><b>{html.escape(job['name'] or job['benchmark'])}</b></p>"
        for text in self.alerts:
            yield f'<p style="border-left:4px solid #b3261e;padding-left:8px">{html.escape(text)}</p>'
        if job["status"] != "completed":
            text = f"This job is {job['status']}; every figure is of the trials that have ended."
            yield f'<p style="border-left:4px solid #7d5200;padding-left:8px">{html.escape(text)}</p>'
        for sentence in self._data["summary"]:
            yield f"<p>{html.escape(sentence)}</p>"
        for model, text in job.get("model_texts", {}).items():
            yield f"<p><small>{html.escape(model)} is {html.escape(text)}.</small></p>"

    def _table(self) -> str:
        over_all = [contrast for contrast in self._data["contrasts"] if contrast["scope"] == "all"]
        if not over_all:
            return ""
        from gnomon.report.text_formats import both_ranges, p_text, points  # late, as above

        rows = [
            [
                contrast["model"],
                f"{contrast['variant']} − {contrast['baseline']}",
                "–" if contrast["diff"] is None else points(contrast["diff"]),
                both_ranges(contrast),
                contrast["n"],
                f"{contrast['rescued']} : {contrast['broken']}",
                p_text(contrast["p_adjusted"]),
                SIGNS[contrast["verdict"]],
            ]
            for contrast in over_all[:SHOWN_CONTRASTS]
        ]
        head = ("model", "arms", "points", "95 %", "samples", "fixed : regressed", "p adjusted", "verdict")
        more = len(over_all) - len(rows)
        return html_table(head, rows) + (f"<p><small>and {more:,} more</small></p>" if more > 0 else "")

    def _foot(self) -> str:
        trials, job = self._data["denominators"]["trials"], self._data["job"]
        counts = (
            f"{trials['scored']:,} scored, {trials['model_failed']:,} failed by the model, "
            f"{trials['infra_missing']:,} missing, of {trials['planned']:,} trials"
        )
        return f"<p><small>{html.escape(counts)} · job {html.escape(job['id'])}</small></p>"
