"""Makes each chart of a report a file of its own, as SVG, PDF or PNG.

A chart has two sizes, as a report's page draws it twice: for one column of a paper, and for a page's width.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gnomon import report
from gnomon.report.row_formats import escape_surrogates

FOLDER = Path(report.__file__).parent
FONT = "'Libertinus Serif','Linux Libertine','Times New Roman',Times,serif"  # Typst brings the first along
WIDTHS_MM = {"at-narrow": 84.0, "at-wide": 174.0}
EDGE = 3.0  # around a chart, so that no letter at its side is cut
PNG_DOTS = 600  # an inch, as journals ask of line art
CHART = re.compile(
    r'<svg class="(at-narrow|at-wide)" viewBox="0 0 ([\d.]+) ([\d.]+)" role="img" '
    r'aria-label="([^"]*)">\n<title>.*?</title>(.*?)</svg>',
    re.DOTALL,
)
# Letters of a chart for a page's width would be too small in print.
OWN = (
    ".at-wide text{font-size:16px}.at-wide .tick,.at-wide .side{font-size:13.5px}"
    ".at-wide .value{font-size:15px}.plot text{stroke:none!important}"
)
PAGE = """#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg", width: float(sys.inputs.mm) * 1mm)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in one size: `drawing` are its elements, in units of which it is `width` times `height`."""

    size: str  # at-narrow: a column's; at-wide: a page's
    title: str  # escaped
    width: float
    height: float
    drawing: str

    @property
    def svg(self) -> str:
        """The chart as an SVG file, in millimetres."""
        mm, width, height = WIDTHS_MM[self.size], self.width + 2 * EDGE, self.height + 2 * EDGE
        return escape_surrogates(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-EDGE:g} {-EDGE:g} {width:g} {height:g}" '
            f'width="{mm:g}mm" height="{mm * height / width:.5g}mm" class="plot {self.size}" role="img" '
            f'font-family="{FONT}"><title>{self.title}</title><style>{chart_style()}{OWN}</style>'
            f"{self.drawing}</svg>\n"
        )

    def printed(self, form: Literal["pdf", "png"]) -> bytes:
        """The chart as `pdf` or `png`; letters without a glyph in Typst's fonts are of the system's."""
        import typst  # late: 80 MB, for files alone

        inputs = {"svg": self.svg, "mm": f"{WIDTHS_MM[self.size]:g}"}
        dots = float(PNG_DOTS) if form == "png" else None
        return typst.compile(PAGE.encode(), format=form, ppi=dots, sys_inputs=inputs)


def charts_in(page: str) -> Iterator[Chart]:
    """The charts within a part of a report's page, each in both sizes."""
    for size, width, height, title, drawing in CHART.findall(page):
        yield Chart(size=size, title=title, width=float(width), height=float(height), drawing=drawing)


def chart_style() -> str:
    """The report's rules for charts, with its light colours put in: a file has no page to take them from."""
    page, sheet = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "report.css"))
    light = page.partition(":root {")[2].partition("}")[0]
    colours = dict(re.findall(r"(--[\w-]+): (#\w+)", light))
    lines = [line.strip() for line in sheet.splitlines() if line.strip().startswith(".plot ")]
    rules = "".join(line for line in lines if "at-narrow" not in line)
    return re.sub(r"var\((--[\w-]+)\)", lambda name: colours.get(name[1], "currentColor"), rules)
