"""The report's forms: nothing in them runs, breaks a table or asks a server."""

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from gnomon.core.benchmark import BENCHMARKS, Published
from gnomon.core.row import Row
from gnomon.core.seal import next_line
from gnomon.report.charts import (
    Curve,
    Mark,
    Scale,
    Step,
    curve_panels,
    curve_plot,
    difference_plot,
    share_plot,
    waterfall_plot,
)
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.terminal import summary_text
from gnomon.report.text_formats import points_brackets, points_range

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


def drawn(chart: str, *, width: str = "at-wide") -> list[ET.Element]:
    """The elements of a chart, which is well-formed XML, as it is drawn for wide or for narrow pages."""
    [drawing] = [svg for svg in ET.fromstring(chart) if svg.get("class") == width]
    return list(drawing.iter())


def of_class(chart: str, name: str) -> list[dict[str, str]]:
    return [element.attrib for element in drawn(chart) if name in element.get("class", "").split()]


def test_marks_are_drawn_in_order_and_inside_the_picture() -> None:
    marks = [
        Mark(label="a", value=-0.2, interval=[-0.4, 0.1], note="", kind="hurts", pooled=-0.1),
        Mark(label="b", value=None, interval=None, note="", kind="undecided"),
    ]
    chart = difference_plot(marks, title="t", margin=0.05)
    low, high = (float(of_class(chart, "whisker")[0][end]) for end in ("x1", "x2"))
    [dot], [pooled], [zero] = (of_class(chart, name) for name in ("dot", "pooled", "zero"))
    assert 0 < low < float(dot["cx"]) < float(pooled["cx"]) < float(zero["x1"]) < high < 900
    ticks = [element.text for element in drawn(chart) if element.get("class") == "tick"]
    assert ticks == ["−40", "−30", "−20", "−10", "0", "+10", "+20", "+30", "+40"]


def test_a_value_beyond_a_scale_is_drawn_at_its_end() -> None:
    scale = Scale(low=-0.1, high=0.1, start=200, end=600)
    assert [scale.at(value) for value in (-3, -0.1, 0, 0.05, 2)] == [200, 200, 400, 500, 600]


def test_the_bars_of_a_waterfall_begin_where_the_last_one_ended() -> None:
    steps = [
        Step(label="b", start=0.2, end=0.5, diff=0.3, interval=[0.1, 0.5]),
        Step(label="c", start=0.5, end=0.4, diff=-0.1, interval=[-0.3, 0.1]),
    ]
    chart = waterfall_plot("a", "c", steps, title="t")
    ends = [(float(bar["x"]), float(bar["x"]) + float(bar["width"])) for bar in of_class(chart, "bar")]
    first, second, third, last = ends
    assert (first[0], first[1]) == (last[0], second[0])
    assert second[1] == third[1]
    assert third[0] == last[1]
    colours = [group.get("class") for group in drawn(chart) if group.tag == "g"]
    assert colours == ["arm total", "helps", "undecided", "arm total"]


def test_every_chart_has_a_title_and_escapes_what_it_writes() -> None:
    mark = Mark(label=EVIL, value=0.5, interval=[0.4, 0.6], note=EVIL, kind="arm")
    step = Step(label=EVIL, start=0.1, end=0.2, diff=0.1, interval=None)
    curve = Curve(label=EVIL, points=[(1, 0.5, [0.4, 0.6]), (2, 0.2, None)])
    charts = (
        share_plot([mark], title=EVIL),
        difference_plot([mark], title=EVIL, margin=0.05),
        waterfall_plot(EVIL, EVIL, [step], title=EVIL),
        curve_plot([curve], title=EVIL, x_title=EVIL),
    )
    panels = drawn(curve_panels([curve], title=EVIL, x_title=EVIL, names={1: EVIL, 2: EVIL}))
    assert [element.text for element in panels if element.tag == "title"] == [EVIL, EVIL]
    assert {element.tag for element in panels}.isdisjoint({"script", "img"})
    for chart in charts:
        for width in ("at-wide", "at-narrow"):
            elements = drawn(chart, width=width)
            assert [element.text for element in elements if element.tag == "title"] == [EVIL]
            assert {element.tag for element in elements}.isdisjoint({"script", "img"})


def test_a_narrow_chart_has_labels_above_its_marks_and_all_inside() -> None:
    marks = [Mark(label="indoor.ATI", value=0.2, interval=[0.1, 0.3], note="20.0", kind="arm", arm=2)]
    elements = drawn(share_plot(marks, title="t"), width="at-narrow")
    labels = {element.text: element for element in elements if element.get("class") == "label above"}
    whisker = next(element for element in elements if element.get("class") == "whisker")
    assert float(labels["▲ indoor.ATI"].attrib["y"]) < float(whisker.attrib["y1"])
    names = ("x", "x1", "x2")
    places = [float(element.attrib[name]) for element in elements for name in names if name in element.attrib]
    assert min(places) >= 0
    assert max(places) <= 350


def test_numbers_of_a_narrow_scale_stand_below_their_lines_also_at_its_ends() -> None:
    mark = Mark(label="a", value=0.2, interval=[-1.0, 1.0], note="+20.0 [−100.0, +100.0]", kind="helps")
    elements = drawn(difference_plot([mark], title="t", margin=0.05), width="at-narrow")
    numbers = {
        element.text: float(element.attrib["x"]) for element in elements if element.get("class") == "tick"
    }
    lines = {float(element.attrib["x1"]) for element in elements if element.get("class") == "grid"}
    assert {"−100", "+100"} <= numbers.keys()
    assert set(numbers.values()) <= lines
    assert all(16 <= x <= 334 for x in numbers.values()), "there is room for half of “+100”"


def test_an_arm_keeps_its_shape_and_its_colour() -> None:
    marks = [Mark(label="a", value=0.2, interval=None, note="", kind="arm", arm=arm) for arm in range(5)]
    elements = drawn(share_plot(marks, title="t"))
    kinds = [element.get("class") for element in elements if element.tag == "g"]
    assert kinds == ["arm arm-1", "arm arm-2", "arm arm-3", "arm arm-4", "arm arm-1"]
    shapes = [element.get("d", element.tag) for element in elements if element.get("class") == "dot"]
    assert len(set(shapes)) == 4
    assert shapes[1] == shapes[4]  # but in another colour


def test_curves_differ_by_dash_as_well_as_by_colour() -> None:
    points = [(1, 0.5, None), (2, 0.25, None)]
    chart = curve_plot([Curve(label=name, points=points) for name in "abcd"], title="t", x_title="k")
    lines = of_class(chart, "line")
    assert len({line["stroke-dasharray"] for line in lines}) == 4
    assert [line["points"] for line in lines] == ["56,126 470,181"] * 4


def test_many_curves_have_a_panel_each_with_the_others_behind() -> None:
    curves = [Curve(label=name, points=[(0, 0.5, None), (1, 0.25, None)]) for name in "abcde"]
    chart = curve_panels(curves, title="t", x_title="level", names={0: "easy", 1: "hard"})
    assert len(of_class(chart, "line")) == 5
    assert len(of_class(chart, "behind")) == 25
    texts = [element.text for element in drawn(chart)]
    assert (texts.count("easy"), texts.count("hard"), texts.count("level")) == (5, 5, 1)
    assert len(of_class(curve_plot(curves, title="t", x_title="k"), "behind")) == 25


def test_the_forms_use_the_terms_of_the_field_with_ours_beside_them_once(
    report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(0, 1)] * 5 + [(1, 0)] * 2 + [(1, 1)] * 3))
    page, note = render_html(report), render_markdown(report).replace("\\", "")
    for term, ours in (
        ("Fixed : regressed", "(rescued : broken)"),
        ("Minimum detectable effect", "(MDE)"),
        ("primary metric", "(headline)"),
        ("1 subset", "(cells)"),
        ("Label errors", "(data faults)"),
    ):
        assert term in page
        assert ours in page
    assert page.count("(rescued : broken)") == page.count("(headline)") == 1
    assert "Fixed : regressed (rescued : broken)" in note
    assert "primary metric (headline)" in note
    for text in (page, note):
        assert "provider defaults" in text


def test_decoding_that_a_protocol_sets_is_named(
    report_of: Reporter, spec: Callable[..., object], pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(0, 1)]), spec=spec(decoding={"all": {"temperature": 0.5}}))
    for text in (render_html(report), render_markdown(report)):
        assert "temperature 0.5" in text
        assert "provider defaults" not in text


def test_what_a_models_own_entry_sets_is_named_beside_the_providers_defaults(
    report_of: Reporter, spec: Callable[..., object], pairs: Callable[..., Iterator[Row]]
) -> None:
    entry = {"id": "openai/m", "name": "m", "temperature": 0, "max_tokens": 2000, "options": {"top_p": 0.9}}
    report = report_of(pairs([(0, 1)]), spec=spec(models=[entry]))
    assert report["integrity"]["model_decoding"] == {
        "m": {"top_p": 0.9, "temperature": 0, "max_tokens": 2000}
    }
    for text in (render_html(report), render_markdown(report).replace("\\", "")):
        assert "top_p 0.9, temperature 0, max_tokens 2,000, by its own entry" in text
        assert "provider defaults" not in text
    report = report_of(pairs([(0, 1)]), spec=spec(models=[{"id": "m"}, {**entry, "name": "n"}]))
    for text in (render_html(report).lower(), render_markdown(report).lower()):
        assert "decoding, n" in text
        assert "decoding of the other models" in text
        assert "provider defaults" in text


def test_no_effect_stands_beside_the_interval_that_shows_it(
    report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(1, 1)] * 200 + [(0, 0)] * 200 + [(0, 1)] * 3 + [(1, 0)] * 3))
    whole = report["contrasts"][0]
    assert whole["verdict"] == "no_effect"
    page = render_html(report)
    assert whole["ci90"] is not None
    assert whole["ci95"] is not None
    assert f"<dd>{points_range(whole['ci90'])}</dd>" in page
    assert f"<dd>{points_range(whole['ci95'])}</dd>" not in page
    assert "90 % interval, which decides that there is no effect" in page
    assert f"{points_range(whole['ci95'])}; 90 %, which decided: {points_range(whole['ci90'])}" in page
    assert f"{points_brackets(whole['ci90'])} 90 %  n=406" in page
    text = render_markdown(report).replace("\\", "")
    assert f"; 90 %, which decided: {points_range(whole['ci90'])}" in text
    helped = report_of(pairs([(0, 1)] * 40 + [(1, 1)] * 40))
    assert "which decide" not in render_html(helped)


def test_the_margin_in_force_is_named_with_why(
    report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(0, 0)] * 97 + [(0, 1)] * 2 + [(1, 0)]))
    page = render_html(report)
    why = "±1 point (5, narrowed to a fifth near 0 %)"
    assert f"the grey bands are the margins in force, for it {why}" in page
    assert "<dt>Margin in force</dt>" in page
    assert "the grey band the margin of ±5 points" not in page
    plain = render_html(report_of(pairs([(0, 1)] * 40 + [(1, 1)] * 40)))
    assert "the grey bands are the margins in force, for it ±5 points." in plain
    assert "<dt>Margin in force</dt>" not in plain


def test_each_row_of_a_plot_has_its_own_band() -> None:
    marks = [
        Mark(label=f"row {at}", value=0.0, interval=[-0.1, 0.1], note="", kind="undecided", margin=ends)
        for at, ends in enumerate((None, [-0.05, 0.05], [-0.01, 0.01]))
    ]
    bands = re.findall(
        r'class="band" x="[\d.]+" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"',
        difference_plot(marks, title="t", margin=0.05),
    )
    (y, width, height), (next_y, narrow, _) = bands[:2]
    assert float(y) + float(height) == float(next_y)
    assert float(width) == pytest.approx(5 * float(narrow), rel=0.05)
    assert len(bands) == 4, "two of each drawing: rows of the same margin share one"


def test_of_imported_trials_nothing_is_claimed_that_only_who_ran_them_knows(
    report_of: Reporter,
    spec: Callable[..., object],
    pairs: Callable[..., Iterator[Row]],
    quiz: Callable[..., object],
) -> None:
    arms = [{"name": name, "agent": "imported"} for name in ("raw", "tools")]
    published = (Published(model="GPT", group="proprietary", aggregate=0.3, by_task={"near": 0.5}),)
    report = report_of(pairs([(0, 1)] * 9), spec=spec(arms=arms), benchmark=quiz(rows=published))
    facts = report["integrity"]
    assert (report["protocol"], report["scoring"]) == ("unknown", "unknown")
    assert (facts["protocol"], facts["scoring"], facts["seeds"]["trials"]) == ("unknown",) * 3
    assert facts["arm_differences"] == []
    assert "can’t know" in report["plan"]["declared"]
    for text in (render_html(report), render_markdown(report)):
        assert "imported, prompt and scoring unknown" in text
        assert "unknown, as the trials were run elsewhere" in text
        for claim in ("before any answer", "guarded", "strict", "provider defaults", "hash of sample"):
            assert claim not in text
    own = report_of(pairs([(0, 1)] * 9))
    assert own["plan"]["declared"] == "Declared; no seal says when"
    assert "guarded prompt · strict scoring" in render_html(own)


def test_a_plan_kept_for_answers_that_were_there_is_not_declared_before_them(
    report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    line = next_line([], "imported", {"at": "2026-11-01T00:00:00Z", "spec": {}})
    report = report_of(pairs([(0, 1)] * 9), seal=[line])
    assert report["plan"]["declared"] == "Kept for answers that were there already"
    assert "before any answer" not in render_html(report)


def test_abbreviations_of_a_benchmark_are_spelled_out(
    report_of: Reporter, row: Callable[..., Row], quiz: Callable[..., object]
) -> None:
    rows = [row(0, arm, 1.0, cell="indoor.ATI") for arm in ("raw", "tools")]
    report = report_of(rows, benchmark=BENCHMARKS.get("gtr-bench"))
    assert report["job"]["task_names"] == {"ATI": "arrival time interval"}
    for text in (render_html(report), render_markdown(report)):
        assert "ATI: arrival time interval." in text
    assert report_of(rows)["job"]["task_names"] == {}


def test_a_report_of_a_version_without_spelled_out_tasks_is_still_rendered(
    report_of: Reporter, row: Callable[..., Row]
) -> None:
    report = report_of([row(0, arm, 1.0) for arm in ("raw", "tools")])
    del report["job"]["task_names"]  # type: ignore[misc]
    assert render_html(report)
    assert render_markdown(report)
