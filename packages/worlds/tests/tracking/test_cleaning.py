"""Cleaning: what is dropped, parted, filled in and smoothed, and that every step says of how many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_published.passages.motion_text import parse_segments
from gnomon_tools.geometry.angles import turn_deg
from gnomon_tools.scene.frame import Frame
from gnomon_worlds.tracking.calibration import GroundPoints, Lens, undistorted
from gnomon_worlds.tracking.cleaning import LIMITS, Cleaned, clean, local_line
from gnomon_worlds.tracking.neutral_form import Boxes, TrackedCamera, Tracking
from gnomon_worlds.tracking.summary import in_words, legs_of

Rows = list[tuple[int, int, float, float, float]]  # camera, target, time, x, y


def site(rows: Rows, *, floors: tuple[int, ...] = (0, 0)) -> tuple[Tracking, GroundPoints]:
    """A site whose boxes lie one pixel apart for a metre, with their foot points on the floor as given."""
    table = np.array(rows, dtype=float).reshape(-1, 5)
    ltwh = np.column_stack(
        [table[:, 3] * 10, table[:, 4] * 10, np.full(len(table), 20.0), np.full(len(table), 30.0)]
    )
    boxes = Boxes(
        camera=table[:, 0].astype(np.intp),
        target=table[:, 1].astype(np.intp),
        frame=np.round(table[:, 2] * 10).astype(np.int64),
        time_s=table[:, 2],
        ltwh=ltwh,
    )
    tracking = Tracking(
        id="s",
        kind="outdoor",
        body="vehicle",
        cameras=tuple(TrackedCamera(id=f"c{n}", floor=floor) for n, floor in enumerate(floors)),
        targets=tuple(str(number) for number in range(10)),
        boxes=boxes,
        frame=Frame(),
    )
    ground = GroundPoints(
        on_floor=np.isfinite(table[:, 3]), xy_m=table[:, 3:], m_per_px=np.full(len(table), 0.02)
    )
    return tracking, ground


def drive(
    *,
    camera: int = 0,
    target: int = 1,
    start_s: float = 0.0,
    seconds: float = 4.0,
    x_m: float = 0.0,
    speed: float = 10.0,
) -> Rows:
    """A car that goes east, ten boxes a second."""
    times_s = start_s + np.arange(round(seconds * 10) + 1) / 10
    return [(camera, target, float(t), x_m + speed * (float(t) - start_s), 5.0 * camera) for t in times_s]


def counted(cleaned: Cleaned) -> dict[str, int]:
    return {count.step: count.count for count in cleaned.counts}


def test_a_clean_drive_stays_as_it_is() -> None:
    cleaned = clean(*site(drive()))
    (walker,) = cleaned.walkers
    assert walker.stays[0].times_s == pytest.approx(np.arange(41) / 10)
    assert walker.stays[0].xy_m[:, 0] == pytest.approx(np.arange(41), abs=1e-9)
    assert counted(cleaned) == dict.fromkeys(counted(cleaned), 0) | {"left": 1}


@given(st.integers(5, 35), st.floats(15, 400), st.sampled_from([-1, 1]))
def test_a_point_out_of_reach_is_dropped_and_the_path_is_the_same(
    index: int, off_m: float, side: int
) -> None:
    rows = drive()
    rows[index] = (*rows[index][:4], rows[index][4] + side * off_m)
    cleaned = clean(*site(rows))
    (walker,) = cleaned.walkers
    counts = counted(cleaned)
    assert counts["speed"] + counts["acceleration"] == 1
    assert counts["gaps"] == 1
    assert walker.stays[0].xy_m[:, 0] == pytest.approx(np.arange(41), abs=1e-6)


def test_boxes_twice_in_a_frame_and_boxes_of_two_targets_count_once() -> None:
    rows = drive()
    cleaned = clean(*site([*rows, *rows[:5], *drive(target=2, seconds=2.0)]))
    assert counted(cleaned)["repeated"] == 5
    assert counted(cleaned)["doubled"] == 21
    assert [walker.target for walker in cleaned.walkers] == ["1"]


@given(st.floats(0.3, 1.9))
def test_short_gaps_are_filled_in_and_long_ones_end_the_stay(gap_s: float) -> None:
    rows = [row for row in drive(seconds=8.0) if not 3.0 < row[2] < 3.0 + gap_s]
    short = clean(*site(rows))
    assert len(short.walkers[0].stays) == 1
    assert counted(short)["gaps"] == 81 - len(rows)
    later = [row if row[2] <= 3.0 else (*row[:2], row[2] + 3.0, *row[3:]) for row in rows]
    assert len(clean(*site(later)).walkers[0].stays) == 2


def test_an_identity_in_two_places_at_once_is_parted() -> None:
    cleaned = clean(*site([*drive(), *drive(camera=1, x_m=300.0)]))
    assert [(walker.target, walker.part) for walker in cleaned.walkers] == [("1", 1), ("1", 2)]
    assert counted(cleaned)["identity"] == 1


def test_an_identity_out_of_reach_is_parted_and_one_in_reach_is_not() -> None:
    near = clean(*site([*drive(), *drive(camera=1, x_m=300.0, start_s=20.0)]))
    far = clean(*site([*drive(), *drive(camera=1, x_m=3000.0, start_s=20.0)]))
    assert (len(near.walkers), len(far.walkers)) == (1, 2)


def test_two_cameras_may_see_one_target_at_once_in_one_place() -> None:
    rows = [*drive(), *((1, 1, t, x, y + 3.0) for _, _, t, x, y in drive())]
    assert len(clean(*site(rows)).walkers) == 1


def test_a_track_that_goes_on_elsewhere_is_parted() -> None:
    rows = [row if row[2] < 2.0 else (*row[:3], row[3] + 500.0, row[4]) for row in drive()]
    cleaned = clean(*site(rows))
    assert counted(cleaned)["switch"] == 1
    assert len(cleaned.walkers) == 2


def test_glimpses_and_parked_cars_are_no_stays() -> None:
    cleaned = clean(*site([*drive(seconds=0.7), *drive(target=2, speed=0.05, x_m=90.0)]))
    assert cleaned.walkers == ()
    assert (counted(cleaned)["short"], counted(cleaned)["still"]) == (1, 1)


def test_points_beyond_the_horizon_are_counted_and_gone() -> None:
    rows = drive()
    rows[:4] = [(*row[:3], float("nan"), row[4]) for row in rows[:4]]
    cleaned = clean(*site(rows))
    assert counted(cleaned)["horizon"] == 4
    assert cleaned.walkers[0].stays[0].start_s == pytest.approx(0.4)


@given(st.integers(0, 10**6), st.floats(0.05, 0.6))
def test_smoothing_keeps_straight_lines_and_shrinks_noise(seed: int, scale: float) -> None:
    times_s = np.arange(60) / 10
    line_m = np.column_stack([3 + 8 * times_s, 1 - 2 * times_s])
    noisy_m = line_m + np.random.default_rng(seed).normal(scale=scale, size=line_m.shape)
    assert local_line(times_s, line_m, 0.5) == pytest.approx(line_m, abs=1e-9)
    smooth_m = local_line(times_s, noisy_m, 0.5)
    assert np.linalg.norm(smooth_m - line_m) < 0.75 * np.linalg.norm(noisy_m - line_m)


@given(st.integers(0, 10**6), st.permutations(range(41)))
def test_the_order_of_the_boxes_does_not_matter(seed: int, order: list[int]) -> None:
    rng = np.random.default_rng(seed)
    rows = [(*row[:3], row[3] + rng.normal(scale=0.05), row[4]) for row in drive()]
    first, second = (clean(*site(one)) for one in (rows, [rows[index] for index in order]))
    assert first.counts == second.counts
    assert first.walkers[0].stays[0].xy_m == pytest.approx(second.walkers[0].stays[0].xy_m)


def test_limits_hold_for_walkers_too() -> None:
    assert LIMITS["pedestrian"].speed_mps < LIMITS["vehicle"].speed_mps


@given(st.floats(-0.3, 0.1), st.floats(-0.02, 0.02))
def test_undistorting_undoes_the_lens(k1: float, p1: float) -> None:
    intrinsic = np.array([[1200.0, 0, 960], [0, 1200.0, 540], [0, 0, 1]])
    straight = np.array([[400.0, 800.0], [1500.0, 900.0], [960.0, 540.0]])
    x, y = ((straight - (960, 540)) / 1200).T
    square = x**2 + y**2
    bent = np.column_stack(
        [x * (1 + k1 * square) + 2 * p1 * x * y, y * (1 + k1 * square) + p1 * (square + 2 * y**2)]
    )
    lens = Lens(intrinsic=intrinsic, distortion=(k1, 0.0, p1, 0.0))
    assert undistorted(lens, bent * 1200 + (960, 540)) == pytest.approx(straight, abs=0.05)


corners = st.lists(
    st.tuples(st.sampled_from([0, 45, 90, 135, 180, 225, 270, 315]), st.integers(8, 60)),
    min_size=1,
    max_size=4,
)


@given(corners, st.floats(2, 12), st.floats(-12, 12))
def test_tools_read_a_summary_back_as_it_was(
    ways: list[tuple[int, int]], speed: float, off_deg: float
) -> None:
    points, times_s = [(0.0, 0.0)], [0.0]
    for heading_deg, length_m in ways:
        angle = np.radians(heading_deg + off_deg)
        for step in range(1, length_m + 1):
            del step
            points.append((points[-1][0] + np.sin(angle), points[-1][1] + np.cos(angle)))
            times_s.append(times_s[-1] + 1 / speed)
    legs = legs_of(np.array(times_s), np.array(points), "vehicle")
    parts = parse_segments(in_words(legs))
    moving = [leg for leg in legs if leg.length_m]
    assert len(parts) == len(moving)
    for part, leg in zip(parts, moving, strict=True):
        assert part.length_m == pytest.approx(leg.length_m, abs=0.051)
        assert abs(turn_deg(part.heading_deg, leg.bearing_deg)) <= 22.5 + 1e-6
        assert part.speed_mps == pytest.approx(leg.length_m / leg.duration_s, abs=0.051)


def test_a_stop_is_told_between_two_ways() -> None:
    xs = [*range(0, 41, 2), *[40] * 40, *range(42, 61, 2)]
    xy_m = np.column_stack([np.array(xs, dtype=float), np.zeros(len(xs))])
    words = in_words(legs_of(np.arange(len(xs)) / 5, xy_m, "vehicle"))
    assert words == (
        "The target moves east at 10.0 m/s for 40.0 meters, then stands for 8.0 s,"
        " then moves east at 10.0 m/s for 20.0 meters."
    )
