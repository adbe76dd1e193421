"""Lanes under one clock: bars, labels, errors and ticks."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import pytest

from gnomon.core.clock import clock
from gnomon.drawing.clock_svg import LETTERS, clock_range, clock_svg
from gnomon.drawing.labels import text_width
from gnomon.drawing.layer import Layer
from gnomon_tools.core.sketch import Sketch, Span

SVG = "{http://www.w3.org/2000/svg}"


def lane(name, look, *spans, **how):
    return Layer(name, Sketch(spans=tuple(spans)), look, **how)


def span(start_s, end_s, label="c01", **how):
    return Span(start_s=start_s, end_s=end_s, label=label, **how)


def clocks(*layers, start_s=0.0, end_s=100.0, **how):
    """The wide and the narrow drawing."""
    markup = clock_svg(layers, start_s=start_s, end_s=end_s, ident="clock", title="Times", **how)
    return list(ET.fromstring(markup))


def lanes(svg, key):
    return [each for each in svg.iter(f"{SVG}g") if each.get("data-layer") == key]


def rects(svg, key):
    return [
        tuple(float(each.get(name)) for name in ("x", "y", "width", "height"))
        for part in lanes(svg, key)
        for each in part.iter(f"{SVG}rect")
    ]


CROWD = [
    span(start, start + 6, f"camera {n} by the door", error_s=1.5 if n % 2 else None)
    for n, start in enumerate((10, 11, 12, 30, 31, 33, 60, 61, 90, 96, 97, 98))
]


@pytest.mark.parametrize("spans", [CROWD, CROWD * 5], ids=["crowd", "great-crowd"])
@pytest.mark.parametrize("width", [0, 1], ids=["wide", "narrow"])
def test_labels_meet_neither_bars_nor_labels_nor_the_edge(width, spans):
    svg = clocks(lane("Step 3", "step", *spans))[width]
    group = lanes(svg, "Step 3")[0]
    texts = []
    for text in list(group.findall(f"{SVG}text"))[1:]:
        wide = text_width(text.text) * LETTERS
        left = float(text.get("x")) - wide * {None: 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        texts.append((left, float(text.get("y")) - 9, left + wide, float(text.get("y")) + 2))
    bars = [(x, y, x + wide, y + high) for x, y, wide, high in rects(svg, "Step 3")]
    assert len(bars) == len(spans)
    assert len(texts) >= 8
    for one, other in [*combinations(texts, 2), *((text, bar) for text in texts for bar in bars)]:
        assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
    edge = float(svg.get("viewBox").split()[2])
    assert all(left >= 0 and right <= edge for left, _, right, _ in texts)


def test_bars_of_one_lane_do_not_cover_one_another():
    for svg in clocks(lane("Gold", "truth", *CROWD)):
        for one, other in combinations(rects(svg, "Gold"), 2):
            assert one[1] != other[1] or one[0] >= other[0] + other[2] or other[0] >= one[0] + one[2]


def test_ends_of_a_bar_are_at_their_seconds_as_the_data_say():
    svg = clocks(lane("Seen", "seen", span(25, 75)))[0]
    left, right = float(svg.get("data-left")), float(svg.get("data-right"))
    assert (svg.get("data-start"), svg.get("data-end")) == ("0.000", "100.000")
    (x, _, width, _), *_ = rects(svg, "Seen")
    assert x == pytest.approx(left + 0.25 * (right - left), abs=0.1)
    assert width == pytest.approx(0.5 * (right - left), abs=0.1)


def test_an_error_reaches_as_far_as_it_says_on_both_sides():
    svg = clocks(lane("Step 1", "step", span(40, 60, error_s=10)))[0]
    path = next(each for each in svg.iter(f"{SVG}path") if each.get("class") == "error").get("d")
    left, right = float(svg.get("data-left")), float(svg.get("data-right"))
    ends = [(float(x) - left) / (right - left) for x in re.findall(r"M([\d.]+)", path)]
    assert ends == pytest.approx([0.3, 0.7], abs=0.001)
    assert any("±10.0 s" in (each.text or "") for each in svg.iter(f"{SVG}title"))


def test_ticks_are_at_round_times_of_the_clock():
    wide, narrow = clocks(
        lane("Seen", "seen", span(2130, 2260)), start_s=2125.0, end_s=2265.0, format_time=clock
    )
    texts = [
        [text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "tick-text"]
        for svg in (wide, narrow)
    ]
    assert texts[0] == ["12:35:30", "12:36:00", "12:36:30", "12:37:00", "12:37:30"]
    assert texts[1] == ["12:36:00", "12:37:00"]


@pytest.mark.parametrize("stretch_s", [0.05, 1.0, 37.0, 5000.0, 1e6, 1e9])
def test_any_stretch_has_ticks_that_do_not_meet(stretch_s):
    for svg in clocks(lane("Seen", "seen", span(0, stretch_s)), start_s=0.0, end_s=stretch_s):
        at = [float(each.get("x1")) for each in svg.iter(f"{SVG}line") if each.get("class") == "tick"]
        assert 1 <= len(at) <= 12
        assert all(late - early >= 20 for early, late in pairwise(at))


def test_steps_share_a_lane_and_others_have_one_each():
    layers = (
        lane("Seen", "seen", span(0, 5)),
        *(lane(f"Step {n}", "step", span(n, n + 9), key=f"step-{n}", is_on=n == 3) for n in range(1, 9)),
        lane("Gold", "truth", span(50, 60)),
        lane("raw", 0),
    )
    svg = clocks(*layers)[0]
    assert [each.get("class") for each in svg.findall(f"{SVG}rect")] == ["lane"] * 3
    assert {rects(svg, f"step-{n}")[0][1] for n in range(1, 9)} == {rects(svg, "step-1")[0][1]}
    assert "is-off" not in lanes(svg, "step-3")[0].get("class")
    assert "is-off" in lanes(svg, "step-4")[0].get("class")
    assert not lanes(svg, "raw")


def test_times_off_the_clock_are_at_its_ends():
    svg = clocks(lane("Step 1", "step", span(-500, -400), span(900, 1000)))[0]
    left, right = float(svg.get("data-left")), float(svg.get("data-right"))
    assert all(left <= x and x + width <= right + 0.1 for x, _, width, _ in rects(svg, "Step 1"))
    texts = [text.text for part in lanes(svg, "Step 1") for text in part.iter(f"{SVG}text")]
    assert texts[1:] == ["◀ c01", "▶ c01"]


def test_bars_of_the_wide_clock_carry_their_seconds_and_what_they_say():
    bar = next(each for each in clocks(lane("Seen", "seen", span(2.5, 7)))[0].iter() if each.get("data-from"))
    assert (bar.get("data-from"), bar.get("data-until")) == ("2.500", "7.000")
    assert bar.get("data-says") == "Seen: c01"


def test_the_range_holds_everything_but_a_steps_absurd_times():
    layers = (
        lane("Seen", "seen", span(100, 110)),
        lane("Step 1", "step", span(1e9, 2e9), span(115, 120, error_s=3)),
        lane("raw", 0, span(float("nan"), 5)),
    )
    start_s, end_s = clock_range(layers)
    assert 95 < start_s < 100
    assert 123 < end_s < 126
    assert clock_range([lane("Seen", "seen")]) is None
    assert clock_range([lane("Seen", "seen", span(7, 7))]) == (6.0, 8.0)


def test_text_from_outside_stays_text_and_nothing_is_styled_inline():
    evil = '<script>alert("1")</script>\x00'
    markup = clock_svg(
        [lane(evil, 0, span(1, 2, evil), key=evil)],
        start_s=0.0,
        end_s=9.0,
        ident="k",
        title=evil,
    )
    assert "<script" not in markup
    assert not re.search(r'\sstyle="|\son\w+="', markup)
    assert ET.fromstring(markup).tag == "div"


def test_layers_without_times_make_no_clock():
    assert clock_svg([lane("Seen", "seen")], start_s=0.0, end_s=1.0, ident="k", title="t") == ""


def test_equal_lanes_give_equal_clocks():
    one, other = (ET.tostring(clocks(lane("Gold", "truth", *CROWD))[1]) for _ in range(2))
    assert one == other
