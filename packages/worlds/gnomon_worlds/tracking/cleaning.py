"""Makes paths of boxes: drops impossible points, fills gaps, smooths, and splits identities that are two.

Every step is counted with what it was a share of.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gnomon_worlds.tracking.calibration import GroundPoints
from gnomon_worlds.tracking.neutral_form import Array, BodyKind, Boxes, Tracking
from gnomon_worlds.tracking.pictures import cut, edges_of
from gnomon_worlds.tracking.sightings import GAP_S, gap_s_of, tracks_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a body can do, and the least values that count."""

    speed_mps: float
    acceleration_mps2: float
    window_s: float = 0.5  # to either side, over which a path is smoothed
    gap_s: float = GAP_S  # a longer one ends a stay in view
    stay_s: float = 1.0  # a shorter one is no stay
    travel_m: float = 1.0  # whoever moves less is not on the way
    apart_m: float = 10.0  # two cameras that place one target further apart show two
    jitter_px: float = 3.0  # error of a foot point that is never held against a path


LIMITS: Mapping[BodyKind, Limits] = {
    "vehicle": Limits(speed_mps=45.0, acceleration_mps2=12.0),
    "pedestrian": Limits(speed_mps=6.0, acceleration_mps2=6.0, travel_m=0.5, apart_m=8.0, stay_s=1.0),
}
SAME_BOX_IOU = 0.95  # boxes of two targets that overlap so in a frame are one box
FEW = 3  # fewer points in a row are no path


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many items a step dropped, added or split, and out of how many."""

    step: str
    what: str
    count: int
    of: int
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stay:
    """A target in view of one camera without a break: smoothed positions (n × 2) at rising times (n).

    `rows` are the boxes it is made of, in order; `error_m` is the root mean square distance of their foot
    points from the smoothed path, `filled` the share of positions that were filled in, `m_per_px` how far the
    middle one of its points moves for a pixel of error.
    """

    camera: int
    floor: int
    times_s: Array
    xy_m: Array
    rows: NDArray[np.intp]
    error_m: float
    filled: float
    m_per_px: float

    @property
    def start_s(self) -> float:
        return float(self.times_s[0])

    @property
    def end_s(self) -> float:
        return float(self.times_s[-1])

    @property
    def speed_mps(self) -> float:
        """Length of the path over its duration."""
        return float(np.linalg.norm(np.diff(self.xy_m, axis=0), axis=1).sum()) / (self.end_s - self.start_s)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walker:
    """One target with its stays in order of time; `part` numbers the targets split out of one identity."""

    target: str
    part: int
    stays: tuple[Stay, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """All targets, and the counts of all steps."""

    walkers: tuple[Walker, ...]
    counts: tuple[Count, ...]


def clean(tracking: Tracking, ground: GroundPoints) -> Cleaned:
    """Paths of all targets, camera by camera, and the report of what was dropped, filled and parted."""
    boxes, gap_s = tracking.boxes, gap_s_of(tracking)
    limits_of = {body: replace(limits, gap_s=gap_s) for body, limits in LIMITS.items()}
    kept = np.arange(len(boxes))
    counts = []

    def drop(step: str, what: str, bad: NDArray[np.bool_]) -> None:
        nonlocal kept
        counts.append(Count(step=step, what=what, count=int(bad.sum()), of=len(kept), unit="boxes"))
        kept = kept[~bad]

    below, sides = _cut(tracking)
    drop("horizon", "foot point near or beyond the horizon, or no calibration", ~ground.on_floor[kept])
    drop("cut off", "foot point below the picture's lower edge", below[kept])
    drop(
        "cut at a side",
        "ends at the picture's left or right edge: its middle is not its target's",
        sides[kept],
    )
    drop("repeated", "second box of a target in one frame of a camera", _repeated(boxes, kept))
    drop("doubled", f"box equal to another target's (IoU {SAME_BOX_IOU:g} or more)", _doubled(boxes, kept))
    outliers, of_points, late, parted, tracks = 0, len(kept), 0, 0, 0
    stays: defaultdict[int, list[Stay]] = defaultdict(list)
    filled, positions, short, still, before = 0, 0, 0, 0, 0
    for target, camera, rows in tracks_of(boxes, kept):
        tracks += 1
        limits = limits_of[tracking.body_of(target)]
        runs, stray, switched = _runs(boxes.time_s[rows], ground.xy_m[rows], ground.m_per_px[rows], limits)
        outliers += stray
        parted += switched
        for run in runs:
            members = rows[run]
            good = _within_acceleration(
                boxes.time_s[members], ground.xy_m[members], ground.m_per_px[members], limits
            )
            late += int((~good).sum())
            members = members[good]
            before += 1
            if len(members) < FEW or boxes.time_s[members[-1]] - boxes.time_s[members[0]] < limits.stay_s:
                short += 1
                continue
            stay = _stay(camera, tracking.cameras[camera].floor, boxes, ground, members, limits)
            filled += len(stay.times_s) - len(members)
            positions += len(stay.times_s)
            if np.linalg.norm(stay.xy_m[-1] - stay.xy_m[0]) < limits.travel_m:
                still += 1
                continue
            stays[target].append(stay)
    walkers, split = [], 0
    for target, seen in sorted(stays.items()):
        limits = limits_of[tracking.body_of(target)]
        parts = _identities(sorted(seen, key=lambda stay: stay.start_s), limits)
        split += len(parts) - 1
        walkers += [
            Walker(target=tracking.targets[target], part=number, stays=tuple(part))
            for number, part in enumerate(parts, start=1)
        ]
    left, limits = sum(map(len, stays.values())), limits_of[tracking.body]
    fast, slow = f"{limits.speed_mps:g} m/s", f"{limits.acceleration_mps2:g} m/s²"
    tallies = (
        ("speed", f"out of reach at {fast}, in no run of {FEW} or more", outliers, of_points, "boxes"),
        ("switch", "track that goes on elsewhere, parted", parted, tracks, "tracks"),
        ("acceleration", f"further off the path than {slow} explains", late, of_points - outliers, "boxes"),
        ("gaps", f"filled in, in gaps up to {limits.gap_s:g} s", filled, positions, "positions"),
        ("short", f"in view for less than {limits.stay_s:g} s", short, before, "stays"),
        ("still", f"moved by less than {limits.travel_m:g} m", still, before - short, "stays"),
        ("identity", "in two places at once or out of reach, parted", split, len(stays), "targets"),
        ("left", "what questions are made of", left, before, "stays"),
    )
    counts += [
        Count(step=step, what=what, count=count, of=of, unit=unit) for step, what, count, of, unit in tallies
    ]
    return Cleaned(walkers=tuple(walkers), counts=tuple(counts))


def _cut(tracking: Tracking) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which boxes the lower edge of their picture cuts, and which a side."""
    boxes = tracking.boxes
    below, sides = np.zeros(len(boxes), bool), np.zeros(len(boxes), bool)
    for camera in range(len(tracking.cameras)):
        rows = boxes.camera == camera
        below[rows], sides[rows] = cut(edges_of(tracking, camera), boxes.ltwh[rows])
    return below, sides


def _repeated(boxes: Boxes, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    keys = np.column_stack([boxes.camera[rows], boxes.target[rows], boxes.frame[rows]])
    _, first = np.unique(keys, axis=0, return_index=True)
    repeated = np.ones(len(rows), bool)
    repeated[first] = False
    return repeated


def _doubled(boxes: Boxes, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Boxes that another target has too in the same frame: those of the target with fewer boxes there."""
    if not len(rows):
        return np.zeros(0, bool)
    order = np.lexsort((boxes.frame[rows], boxes.camera[rows]))
    sizes: defaultdict[tuple[int, int], int] = defaultdict(int)
    for camera, target in zip(boxes.camera[rows].tolist(), boxes.target[rows].tolist(), strict=True):
        sizes[camera, target] += 1
    doubled = np.zeros(len(rows), bool)
    keys = np.column_stack([boxes.camera[rows], boxes.frame[rows]])[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(keys, axis=0) != 0).any(axis=1)])
    for first, last in zip(starts, np.r_[starts[1:], len(keys)], strict=True):
        if last - first < 2:
            continue
        members = order[first:last]
        ltwh = boxes.ltwh[rows[members]]
        low, high = ltwh[:, :2], ltwh[:, :2] + ltwh[:, 2:]
        shared = np.clip(
            np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None]), 0, None
        ).prod(axis=2)
        area = ltwh[:, 2:].prod(axis=1)
        same = shared >= SAME_BOX_IOU * (area[:, None] + area[None] - shared)
        for left, right in zip(*np.nonzero(np.triu(same, 1)), strict=True):
            pair = [int(members[left]), int(members[right])]
            fewer = min(
                pair, key=lambda at: (sizes[int(boxes.camera[rows[at]]), int(boxes.target[rows[at]])], -at)
            )
            doubled[fewer] = True
    return doubled


def _runs(
    times_s: Array, xy_m: Array, m_per_px: Array, limits: Limits
) -> tuple[list[NDArray[np.intp]], int, int]:
    """Runs of points, each reachable from the one before, without gaps longer than allowed.

    A point joins the run from which it takes the lowest speed. Also: how many points are in no run of FEW or
    more, and how often a track went on elsewhere while a run could have gone on.
    """
    runs: list[list[int]] = []
    jumped: list[bool] = []
    for index, (time_s, at_m) in enumerate(zip(times_s, xy_m, strict=True)):
        best, least = None, np.inf
        alive = False
        for number, run in enumerate(runs):
            last = run[-1]
            past_s = time_s - times_s[last]
            if not 0 < past_s <= limits.gap_s:
                continue
            alive = True
            slack_m = limits.jitter_px * (m_per_px[last] + m_per_px[index])
            speed_mps = max(float(np.linalg.norm(at_m - xy_m[last])) - slack_m, 0.0) / past_s
            if speed_mps <= limits.speed_mps and speed_mps < least:
                best, least = number, speed_mps
        if best is None:
            runs.append([index])
            jumped.append(alive)
        else:
            runs[best].append(index)
    whole = [number for number, run in enumerate(runs) if len(run) >= FEW]
    stray = len(times_s) - sum(len(runs[number]) for number in whole)
    return [np.array(runs[number]) for number in whole], stray, sum(jumped[number] for number in whole)


def places_at(at: Array, along: Array, xy_m: Array) -> Array:
    """Where a path is at moments or lengths, straight between its points; their shape × 2.

    >>> places_at(np.array([0.5, 3.0]), np.array([0.0, 2.0]), np.array([[0.0, 8.0], [4.0, 8.0]])).tolist()
    [[1.0, 8.0], [4.0, 8.0]]
    """
    return np.stack([np.interp(at, along, axis) for axis in xy_m.T], axis=-1)


def local_line(times_s: Array, xy_m: Array, window_s: float, *, leave_out: bool = False) -> Array:
    """At each time the value there of the least-squares line through the points within `window_s` (n × 2).

    With `leave_out` the point itself does not count; where fewer than two others are near it stays as it is.
    """
    centred = times_s - times_s.mean()
    first = np.searchsorted(times_s, times_s - window_s - 1e-9)
    last = np.searchsorted(times_s, times_s + window_s + 1e-9)
    columns = [np.ones_like(centred), centred, centred**2, *xy_m.T, *(centred[:, None] * xy_m).T]
    sums = []
    for column in columns:
        total = np.concatenate([[0.0], np.cumsum(column)])
        sums.append(total[last] - total[first] - (column if leave_out else 0.0))
    count, t1, t2, x, y, tx, ty = sums
    spread = count * t2 - t1**2
    known = (count >= 2) & (spread > 1e-9)
    spread = np.where(known, spread, 1.0)
    at = []
    for value, product in ((x, tx), (y, ty)):
        slope = (count * product - t1 * value) / spread
        at.append(value / np.maximum(count, 1) + slope * (centred - t1 / np.maximum(count, 1)))
    return np.where(known[:, None], np.column_stack(at), xy_m)


def _within_acceleration(times_s: Array, xy_m: Array, m_per_px: Array, limits: Limits) -> NDArray[np.bool_]:
    """Which points the greatest acceleration can explain, given the points near them."""
    lines_m = local_line(times_s, xy_m, limits.window_s, leave_out=True)
    off_m = np.linalg.norm(xy_m - lines_m, axis=1)
    reach_m = limits.acceleration_mps2 * limits.window_s**2 / 2 + 2 * limits.jitter_px * m_per_px
    return np.asarray(off_m <= reach_m)


def _stay(
    camera: int, floor: int, boxes: Boxes, ground: GroundPoints, rows: NDArray[np.intp], limits: Limits
) -> Stay:
    """The smoothed path, with a position at every usual step of time in its gaps."""
    times_s, xy_m = boxes.time_s[rows], ground.xy_m[rows]
    steps_s = np.diff(times_s)
    usual_s = float(np.median(steps_s))
    extra = [
        np.linspace(times_s[index], times_s[index + 1], round(steps_s[index] / usual_s) + 1)[1:-1]
        for index in np.flatnonzero(steps_s > 1.5 * usual_s)
    ]
    all_s = np.sort(np.concatenate([times_s, *extra]))
    smooth_m = local_line(times_s, xy_m, limits.window_s)
    error_m = float(np.sqrt(((smooth_m - xy_m) ** 2).sum(axis=1).mean()))
    path_m = places_at(all_s, times_s, smooth_m)
    return Stay(
        camera=camera,
        floor=floor,
        times_s=all_s,
        xy_m=path_m,
        rows=rows,
        error_m=error_m,
        filled=1 - len(rows) / len(all_s),
        m_per_px=float(np.median(ground.m_per_px[rows])),
    )


def _identities(stays: Sequence[Stay], limits: Limits) -> list[list[Stay]]:
    """The stays of one identity, split where it would be in two places or move too fast."""
    parts: list[list[Stay]] = []
    for stay in stays:
        home = next(
            (part for part in parts if all(_can_be_one(before, stay, limits) for before in part)), None
        )
        if home is None:
            parts.append([stay])
        else:
            home.append(stay)
    return parts


def _can_be_one(before: Stay, stay: Stay, limits: Limits) -> bool:
    if stay.start_s > before.end_s:
        if before.floor != stay.floor:
            return True
        way_m = float(np.linalg.norm(stay.xy_m[0] - before.xy_m[-1]))
        return way_m <= limits.apart_m + limits.speed_mps * (stay.start_s - before.end_s)
    if before.floor != stay.floor or before.camera == stay.camera:
        return False
    at_s = np.linspace(stay.start_s, min(before.end_s, stay.end_s), 9)
    both_m = [places_at(at_s, one.times_s, one.xy_m) for one in (before, stay)]
    return float(np.median(np.linalg.norm(both_m[0] - both_m[1], axis=1))) <= limits.apart_m
