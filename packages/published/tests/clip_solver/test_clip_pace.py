"""How fast the reference model takes a target to go on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_published.solver.clips.pace import LIMITS, VEHICLE, WALKER, is_vehicle, pace
from gnomon_published.solver.clips.question import Clip


def clip(*sizes):
    boxes = tuple((0.0, 0.0, width, height) for width, height in sizes)
    times_s = tuple(float(index) for index in range(len(sizes)))
    return Clip(camera="c1", target="1", start_s=0.0, lasting_s=9.0, boxes=boxes, times_s=times_s)


def test_wide_boxes_show_a_vehicle_and_narrow_ones_a_person():
    assert is_vehicle(clip((120.0, 100.0), (90.0, 100.0), (30.0, 100.0)))
    assert not is_vehicle(clip((40.0, 100.0), (90.0, 100.0), (30.0, 100.0)))


def test_who_stood_is_taken_to_walk_on_as_usual():
    assert pace((0.2, 0.01), drives=False) == WALKER
    assert pace((1.0, 0.01), drives=True) == VEHICLE


def test_who_goes_at_a_vehicles_speed_is_taken_for_one():
    assert pace((10.0, 0.0), drives=False).speed_mps == 10.0


@given(st.floats(0.9, 1.8), st.floats(0.001, 5.0))
def test_a_seen_speed_counts_by_its_precision(speed_mps, error_mps):
    found = pace((speed_mps, error_mps), drives=False)
    low, high = sorted((speed_mps, WALKER.speed_mps))
    assert low - 1e-9 <= found.speed_mps <= high + 1e-9
    assert found.error_mps < min(error_mps, WALKER.error_mps)
    assert abs(found.speed_mps - WALKER.speed_mps) <= LIMITS * WALKER.error_mps


def test_a_sure_speed_is_kept_and_a_vague_one_hardly_counts():
    assert pace((1.7, 0.01), drives=False).speed_mps == pytest.approx(1.7, abs=0.01)
    assert pace((1.7, 9.0), drives=False).speed_mps == pytest.approx(WALKER.speed_mps, abs=0.01)
