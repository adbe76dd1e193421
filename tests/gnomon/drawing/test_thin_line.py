"""Lines of many points are thinned to what their picture shows."""

import math

import numpy as np
import pytest
from shapely import LineString, Point

from gnomon.drawing.layer import Layer
from gnomon.drawing.scene_svg import scene_svg
from gnomon.drawing.thin_line import MOST_POINTS, TOLERANCE, kept_points
from gnomon_tools.core.sketch import Line, Sketch

N = 2000


def wave(amplitude):
    return [(0.3 * n, amplitude * math.sin(n / 100)) for n in range(N)]


def test_2000_points_are_drawn_by_few_and_none_is_off_by_more_than_the_tolerance():
    points = wave(40.0)
    kept = kept_points(points)
    assert len(kept) < 100
    assert (kept[0], kept[-1]) == (0, N - 1)
    drawn = LineString([points[index] for index in kept])
    assert max(drawn.distance(Point(point)) for point in points) <= TOLERANCE


def test_with_times_a_dot_that_moves_along_the_thinned_line_is_where_it_was():
    points = [(0.3 * n, 0.0) for n in range(N)]
    times_s = [(n / N) ** 2 * 60 for n in range(N)]
    kept = kept_points(points, times_s)
    at = np.interp(times_s, [times_s[index] for index in kept], [points[index][0] for index in kept])
    assert max(abs(at - [x for x, _ in points])) <= TOLERANCE + 1e-9
    assert len(kept_points(points)) == 2 < len(kept) <= MOST_POINTS


def test_noise_is_drawn_by_no_more_points_than_the_most():
    rng = np.random.default_rng(1)
    assert len(kept_points([(x, y) for x, y in rng.uniform(0, 700, (N, 2))])) <= MOST_POINTS


@pytest.mark.parametrize("count", [0, 1, 2])
def test_short_lines_stay(count):
    assert kept_points(wave(1.0)[:count]) == list(range(count))


def test_a_point_that_stays_put_keeps_its_ends():
    assert kept_points([(1.0, 1.0)] * 50, list(range(50))) == [0, 49]


def test_a_line_of_2000_points_makes_a_small_drawing():
    sketch = Sketch(marks=(Line(points=tuple(wave(40.0)), times_s=tuple(range(N))),))
    markup = scene_svg(None, [Layer("Seen", sketch, "seen")], ident="m", title="A line")
    assert len(markup) < 8_000
