"""The report's forms: nothing in them runs, breaks a table or asks a server."""

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser

import pytest

from gnomon.core.benchmark import Published
from gnomon.core.row import Row
from gnomon.report.forest import Mark, plot
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.terminal import summary_text

Reporter = Callable[..., Report]
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}|[x](javascript:alert(1))"


class Tags(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


@pytest.fixture(scope="module")
def evil(
    report_of: Reporter,
    row: Callable[..., Row],
    spec: Callable[..., object],
    quiz: Callable[..., object],
) -> Report:
    """A report in which every text from outside is an attack."""
    arms = [{"name": arm, "agent": "direct"} for arm in (EVIL[:70], "tools")]
    rows = [
        row(n, arm["name"], float(arm["name"] == "tools"), model=EVIL, cell=EVIL, cluster=f"{EVIL}{n}")
        for n in range(8)
        for arm in arms
    ]
    rows = [
        Row(
            **{
                **{name: getattr(one, name) for name in one.__slots__},
                "sample_id": f"{EVIL}{one.sample_id}",
                "answer": f"{EVIL}\ud800"[-119:],
                "stop_reason": EVIL,
                "flags": (EVIL,),
                "tools_used": {EVIL: {"calls": 1, "bad_arguments": 1, "errors": 1}},
            }
        )
        for one in rows
    ]
    published = (Published(model=EVIL, group=EVIL, aggregate=0.5, by_task={EVIL: 0.5}),)
    given = spec(name=EVIL, models=[{"id": EVIL}], arms=arms)
    return report_of(rows, spec=given, benchmark=quiz(rows=published))


def test_texts_from_outside_stay_texts_on_the_page(evil: Report) -> None:
    page = Tags()
    page.feed(render_html(evil))
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "alert(1)" in render_html(evil)


def test_the_page_asks_no_server(evil: Report) -> None:
    page = Tags()
    page.feed(render_html(evil))
    assert not page.tags & {"link", "iframe", "object", "embed", "base", "form"}
    assert not [name for name, _ in page.attributes if name in {"src", "href", "srcset", "action"}]
    style = re.search(r"<style>(.*?)</style>", render_html(evil), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_texts_from_outside_break_no_markdown_table(evil: Report) -> None:
    text = render_markdown(evil)
    assert "<script" not in re.sub(r"\\.", "", text)
    for line in text.splitlines():
        assert not line.startswith("|") or line.endswith("|")
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    for table in tables:
        columns = {re.sub(r"\\.", "", line).count("|") for line in table.splitlines()}
        assert len(columns) == 1, table


def test_every_form_can_be_written_as_utf_8(evil: Report) -> None:
    forms = (
        render_html(evil),
        render_markdown(evil),
        summary_text(evil),
        json.dumps(evil, ensure_ascii=False),
    )
    for text in forms:
        assert text.encode("utf-8")


def test_page_and_text_carry_the_same_finding(
    report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(0, 1)] * 20 + [(1, 1)] * 20))
    [finding] = report["summary"]
    assert "does better under “tools” than under “raw”, by 50.0 points" in finding
    for text in (render_html(report), render_markdown(report).replace("\\", ""), summary_text(report)):
        assert finding in text


def test_the_page_tells_light_from_dark_and_paper(report_of: Reporter) -> None:
    page = render_html(report_of([]))
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_marks_lie_in_order_and_inside_the_picture() -> None:
    marks = [
        Mark(label="a", value=-0.2, interval=[-0.4, 0.1], note="", kind="hurts"),
        Mark(label="b", value=None, interval=None, note="", kind="undecided"),
    ]
    drawn = plot(marks, margin=0.05)
    low, x, high = drawn.lines[0].x_low, drawn.lines[0].x, drawn.lines[0].x_high
    assert low is not None
    assert x is not None
    assert high is not None
    assert drawn.zero_x is not None
    assert 0 < low < x < drawn.zero_x < high < drawn.width
    assert drawn.lines[1].x is None
    assert (0.0 in [value for _, value in drawn.ticks]) is True
