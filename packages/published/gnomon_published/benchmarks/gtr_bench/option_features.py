"""Measures each option of a question by boxes, times and cameras alone, blind to streets, walls and stairs.

An adversary learns from these features (`gnomon_analyses/audit/adversary.py`), and worlds draw hard questions
so that they tell nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gnomon.core.clock import day_span
from gnomon_published.benchmarks.gtr_bench.rules_of_thumb import RUN, Evidence, Place
from gnomon_tools.geometry.angles import EIGHTHS

Floats = NDArray[np.float64]
Columns = dict[str, Floats]  # by feature: questions × options
Asked = tuple[Evidence, Sequence[str]]  # a question and its options

TINY = 1e-6
ON_THE_WAY = 1.15  # a view that makes the straight way longer by no more lies on it
_BEARINGS = np.radians(45.0 * np.arange(len(EIGHTHS)))
_TURNS = np.stack([np.sin(_BEARINGS), np.cos(_BEARINGS)], axis=1)  # east and north, by compass direction


def option_features(questions: Sequence[Asked]) -> tuple[tuple[str, ...], Floats]:
    """The names of the features, and their values: questions × options × features.

    All questions are of one task and have equally many options. Lengths are in metres on the plan, angles in
    radians (0 to pi: off a direction), times in seconds. `ahead` and `aside` are along and across the way
    that a target was last or first seen to go; `axis` is the sine of the angle between a line and the
    direction in which the option's camera looks; `between` counts the other cameras whose view hardly makes
    the straight way longer; `floor` is 1 on another floor.

    Raises:
        KeyError: an option names a camera without a place.
    """
    columns = _OF_TASK[questions[0][0].task](questions)
    return tuple(columns), np.stack(list(columns.values()), axis=2)


class _Tracks:
    """The clip in one place of each question, as arrays with a row a question."""

    def __init__(self, questions: Sequence[Asked], at: int) -> None:
        tracks = [asked.tracks[at] for asked, _ in questions]
        paths = [track.path_m or (track.first.xy_m, track.last.xy_m) for track in tracks]
        self.first = np.array([track.first.xy_m for track in tracks])[:, None]
        self.last = np.array([track.last.xy_m for track in tracks])[:, None]
        self.floor = np.array([[track.last.floor] for track in tracks], dtype=np.float64)
        self.going = _unit(np.array([[np.subtract(path[-1], path[-2])] for path in paths], dtype=np.float64))
        self.coming = _unit(np.array([[np.subtract(path[1], path[0])] for path in paths], dtype=np.float64))
        spans = np.array([track.span_s or (0.0, 0.0) for track in tracks])
        self.start_s, self.end_s = spans[:, :1], spans[:, 1:]
        moved_m = [sum(np.hypot(*np.subtract(b, a)) for a, b in pairwise(path)) for path in paths]
        self.speed = np.array(moved_m)[:, None] / np.maximum(self.end_s - self.start_s, 0.1)


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), TINY)
    return unit


def _dot(a: Floats, b: Floats) -> Floats:
    product: Floats = (a * b).sum(axis=-1)
    return product


def _cross(a: Floats, b: Floats) -> Floats:
    return np.abs(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _angle(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.arctan2(_cross(a, b), _dot(a, b)), dtype=np.float64)


class _Views:
    """The options' views: questions × options, and those of all cameras."""

    def __init__(self, questions: Sequence[Asked], names: Sequence[Sequence[str]]) -> None:
        self.xy_m, self.floor = _places(
            [[asked.spots[name] for name in row] for (asked, _), row in zip(questions, names, strict=True)]
        )
        posts, _ = _places(
            [[asked.posts[name] for name in row] for (asked, _), row in zip(questions, names, strict=True)]
        )
        self.axis = _unit(self.xy_m - posts)
        self.reach_m = np.linalg.norm(self.xy_m - posts, axis=-1)
        rows: dict[int, list[int]] = {}
        for row, (asked, _) in enumerate(questions):
            rows.setdefault(id(asked.spots), []).append(row)  # one mapping a place
        self._by_place = [(questions[own[0]][0].spots, own) for own in rows.values()]

    def between(self, start: Floats, end: Floats, floor: Floats) -> Floats:
        """How many views of cameras lie on the straight way (its ends may be the options)."""
        start, end = np.broadcast_arrays(start, end)
        counts = np.zeros(start.shape[:2])
        for spots, rows in self._by_place:
            xy_m, floors = _places([list(spots.values())])
            here, there = start[rows][:, :, None], end[rows][:, :, None]
            over = np.linalg.norm(here - xy_m[0], axis=-1) + np.linalg.norm(there - xy_m[0], axis=-1)
            is_near = over < ON_THE_WAY * np.linalg.norm(here - there, axis=-1)
            counts[rows] = (is_near & (floors[0] == floor[rows][:, :, None])).sum(axis=-1)
        return counts


def _places(places: Sequence[Sequence[Place]]) -> tuple[Floats, Floats]:
    return (
        np.array([[place.xy_m for place in row] for row in places]),
        np.array([[place.floor for place in row] for row in places], dtype=np.float64),
    )


def _apart(track: _Tracks, views: _Views, name: str, *, after: bool) -> Columns:
    """Where the options lie `after` a clip, from where the target left; or before it, from where it came."""
    seen_m, ahead = (track.last, track.going) if after else (track.first, track.coming)
    way = views.xy_m - seen_m if after else seen_m - views.xy_m
    away_m, angle = np.linalg.norm(way, axis=-1), _angle(way, ahead)
    columns = {
        f"{name}: away": away_m,
        f"{name}: ahead": _dot(way, ahead),
        f"{name}: aside": _cross(way, ahead),
        f"{name}: angle": angle,
    }
    if after:
        columns[f"{name}: onward"] = np.linalg.norm(views.xy_m - track.first, axis=-1) - away_m
    columns |= {
        f"{name}: axis": _cross(_unit(way), views.axis),
        f"{name}: facing": _dot(_unit(way), views.axis),
        f"{name}: along": _cross(views.axis, ahead),
        f"{name}: floor": np.abs(views.floor - track.floor),
        f"{name}: between": views.between(seen_m, views.xy_m, views.floor),
    }
    if after:
        columns |= {
            f"{name}: away, ahead first": away_m + 200.0 * (angle > np.pi / 2),
            f"{name}: away, bent": away_m * (1.2 - np.cos(angle)),
        }
    return columns


def _posts(questions: Sequence[Asked], views: _Views) -> Columns:
    posts, _ = _places([[asked.posts[name] for name in names] for asked, names in questions])
    shown, _ = _places([[asked.posts[track.camera] for track in asked.tracks] for asked, _ in questions])
    apart_m = np.linalg.norm(posts[:, :, None] - shown[:, None], axis=-1)
    columns = {"posts: nearest": apart_m.min(axis=-1), "posts: farthest": apart_m.max(axis=-1)}
    others = np.linalg.norm(views.xy_m[:, :, None] - views.xy_m[:, None], axis=-1)
    columns["options: together"] = others.sum(axis=-1)
    columns["view: reach"] = views.reach_m
    return columns


def _between_clips(questions: Sequence[Asked]) -> Columns:
    views = _Views(questions, [options for _, options in questions])
    start, end = (_Tracks(questions, at) for at in (0, 1))
    there = _apart(start, views, "from first", after=True)
    on = _apart(end, views, "to second", after=False)
    direct_m = np.linalg.norm(end.first - start.last, axis=-1)
    detour_m = there["from first: away"] + on["to second: away"]
    gap_s = end.start_s - start.end_s
    return {
        **there,
        **on,
        **_posts(questions, views),
        "detour": detour_m,
        "detour, more": detour_m - direct_m,
        "detour, times": detour_m / np.maximum(direct_m, 1.0),
        "detour over way by first speed": detour_m / np.maximum(gap_s * start.speed, 1.0),
        "detour over way by second speed": detour_m / np.maximum(gap_s * end.speed, 1.0),
        "turning": there["from first: angle"]
        + on["to second: angle"]
        + _angle(views.xy_m - start.last, end.first - views.xy_m),
        "angles": there["from first: angle"] + on["to second: angle"],
        "aside": _cross(views.xy_m - start.last, _unit(end.first - start.last)),
        "share": _share(there["from first: away"], on["to second: away"]),
        "floors": there["from first: floor"] + on["to second: floor"],
        "detour over floors": detour_m + 200.0 * (there["from first: floor"] + on["to second: floor"]),
    }


def _next(questions: Sequence[Asked]) -> Columns:
    views = _Views(questions, [options for _, options in questions])
    last = _Tracks(questions, -1)
    columns = {**_apart(last, views, "from last", after=True), **_posts(questions, views)}
    columns["speed"] = np.broadcast_to(last.speed, views.floor.shape)
    columns["bend in view"] = np.broadcast_to(_angle(last.coming, last.going), views.floor.shape)
    columns["away over floors"] = (
        columns["from last: away, ahead first"] + 200.0 * columns["from last: floor"]
    )
    if len(questions[0][0].tracks) > 1:
        before = _Tracks(questions, 0)
        way = _unit(last.last - before.last)
        columns |= _apart(before, views, "from before", after=True)
        columns["angle off both clips"] = _angle(views.xy_m - last.last, way)
        columns["onward from before"] = (
            np.linalg.norm(views.xy_m - before.last, axis=-1) - columns["from last: away"]
        )
        columns["floor of before"] = np.abs(views.floor - before.floor)
        steps = np.linalg.norm(views.xy_m[:, :, None] - views.xy_m[:, None], axis=-1)
        far = steps + np.where(np.eye(steps.shape[1], dtype=bool), np.inf, 0.0)
        columns["nearest option"] = far.min(axis=-1)
    return columns


def _meeting(questions: Sequence[Asked]) -> Columns:
    views = _Views(questions, [options for _, options in questions])
    both = [_Tracks(questions, at) for at in (0, 1)]
    by_track = [_apart(track, views, "", after=True) for track in both]
    columns = _posts(questions, views)
    for name in by_track[0]:
        one, other = (its[name] for its in by_track)
        columns[f"least{name}"], columns[f"most{name}"] = np.minimum(one, other), np.maximum(one, other)
        columns[f"sum{name}"] = one + other
    arrivals, bent = (
        [
            track.end_s + longer * its[": away"] / np.maximum(track.speed, 0.1)
            for track, its in zip(both, by_track, strict=True)
        ]
        for longer in (1.0, 1.3)
    )
    ending = np.maximum(both[0].end_s, both[1].end_s)
    columns["arrivals apart"] = np.abs(arrivals[0] - arrivals[1])
    columns["arrivals, last"] = np.maximum(*arrivals) - ending
    columns["arrivals, first"] = np.minimum(*arrivals) - ending
    columns["bent arrivals apart"] = np.abs(bent[0] - bent[1])
    columns["both over floors"] = columns["sum: away"] + 200.0 * columns["sum: floor"]
    columns["angles and metres"] = columns["sum: away"] + 100.0 * columns["sum: angle"]
    columns["meeting angle"] = _angle(views.xy_m - both[0].last, views.xy_m - both[1].last)
    return columns


def _interval(questions: Sequence[Asked]) -> Columns:
    asked_for = _Views(questions, [[asked.asked] for asked, _ in questions])
    start, end = (_Tracks(questions, at) for at in (0, 1))
    spans = np.array([[day_span(option) or (0.0, 0.0) for option in options] for _, options in questions])
    begins_s, ends_s = spans[..., 0], spans[..., 1]
    middle_s = (begins_s + ends_s) / 2
    gap_s = np.maximum(end.start_s - start.end_s, 0.1)
    there = _apart(start, asked_for, "from first", after=True)
    on = _apart(end, asked_for, "to second", after=False)
    there_m, on_m = there["from first: away"], on["to second: away"]
    climbs = 200.0 * (there["from first: floor"] + on["to second: floor"])
    columns: Columns = {
        "order": begins_s.argsort(axis=1).argsort(axis=1).astype(np.float64),
        "starts": begins_s - start.end_s,
        "ends": end.start_s - ends_s,
        "lasts": ends_s - begins_s,
        "share": (middle_s - start.end_s) / gap_s,
        "off the middle": np.abs((middle_s - start.end_s) / gap_s - 0.5),
        "lasts against the view": (ends_s - begins_s)
        * (start.speed + end.speed)
        / 2
        / np.maximum(asked_for.reach_m, 1.0),
    }
    shares = {
        "straight": _share(there_m, on_m),
        "squares": _share(
            _blocks(asked_for.xy_m - start.last, start.going),
            _blocks(end.first - asked_for.xy_m, end.coming),
        ),
        "bent": _share(
            there_m * (1.5 - 0.5 * np.cos(there["from first: angle"])),
            on_m * (1.5 - 0.5 * np.cos(on["to second: angle"])),
        ),
        "floors": (there_m + 30 * there["from first: floor"])
        / np.maximum(there_m + on_m + 30 * (there["from first: floor"] + on["to second: floor"]), 1.0),
    }
    for name, share in shares.items():
        off_s = middle_s - (start.end_s + share * gap_s)
        columns |= {
            f"{name}: late": off_s,
            f"{name}: off": np.abs(off_s),
            f"{name}: off, share": off_s / gap_s,
        }
    by_first = start.end_s + there_m / np.maximum(start.speed, 0.1)
    by_second = end.start_s - on_m / np.maximum(end.speed, 0.1)
    columns |= {
        "by first speed: late": begins_s - by_first,
        "by second speed: early": by_second - ends_s,
        "by first speed: off": np.abs(begins_s - by_first),
        "by second speed: off": np.abs(by_second - ends_s),
        "spare": gap_s * (start.speed + end.speed) / 2 - (there_m + on_m) + 0 * middle_s,
        "possible": np.maximum(by_first - begins_s, 0) + np.maximum(ends_s - by_second, 0),
        "climbs": climbs + 0 * middle_s,
    }
    return columns


def _share(there_m: Floats, on_m: Floats) -> Floats:
    share: Floats = there_m / np.maximum(there_m + on_m, 1.0)
    return share


def _blocks(way: Floats, ahead: Floats) -> Floats:
    """The length of a way along and across a direction."""
    return np.abs(_dot(way, ahead)) + _cross(way, ahead)


def _order(questions: Sequence[Asked]) -> Columns:
    names = [[option.split(" → ") for option in options] for _, options in questions]
    count = len(questions[0][0].tracks)
    tracks = [_Tracks(questions, at) for at in range(count)]
    place = [{track.camera: at for at, track in enumerate(asked.tracks)} for asked, _ in questions]
    steps = np.array(
        [
            [[places[name] for name in order] for order in row]
            for row, places in zip(names, place, strict=True)
        ]
    )
    shape = steps.shape[:2]

    def taken(of: Callable[[_Tracks], Floats], at: int) -> Floats:
        """What a track has, of that which stands at a place of the order: questions × options."""
        every = np.stack([of(track)[:, 0] for track in tracks], axis=1)
        picked: Floats = every[np.arange(shape[0])[:, None], steps[:, :, at]]
        return picked

    columns: dict[str, list[Floats]] = {}
    for at in range(count - 1):
        last, going = taken(lambda t: t.last, at), taken(lambda t: t.going, at)
        first, coming = taken(lambda t: t.first, at + 1), taken(lambda t: t.coming, at + 1)
        way = first - last
        for name, values in {
            "way": np.linalg.norm(way, axis=-1),
            "leaves off": _angle(going, way),
            "comes off": _angle(way, coming),
            "break": _angle(going, coming),
            "ahead": _dot(way, going),
            "behind": _dot(way, coming),
            "aside": _cross(way, going),
            "floor": np.abs(
                taken(lambda t: t.floor[..., None], at) - taken(lambda t: t.floor[..., None], at + 1)
            )[..., 0],
        }.items():
            columns.setdefault(name, []).append(np.asarray(values, dtype=np.float64))
    made: Columns = {}
    for name, values in columns.items():
        made[f"{name}: sum"] = np.sum(values, axis=0)
        made[f"{name}: most"] = np.max(values, axis=0)
        for at, each in enumerate(values):
            made[f"{name}: {at + 1}"] = each
    made["angles"] = made["leaves off: sum"] + made["comes off: sum"]
    made["angles and metres"] = made["angles"] + made["way: sum"] / 100.0
    made["way over floors"] = made["way: sum"] + 200.0 * made["floor: sum"]
    made["turns"] = _angle(
        taken(lambda t: t.first, 1) - taken(lambda t: t.last, 0),
        taken(lambda t: t.first, count - 1) - taken(lambda t: t.last, 1),
    )
    made["reverse offered"] = np.array([[float(order[::-1] in row) for order in row] for row in names])
    made["like the others"] = np.array(
        [
            [float(sum(a == b for other in row for a, b in zip(order, other, strict=True))) for order in row]
            for row in names
        ]
    )
    for at in range(count):
        made[f"speed: {at + 1}"] = taken(lambda t: np.linalg.norm(t.last - t.first, axis=-1)[..., None], at)[
            ..., 0
        ]
    return made


def _motion(questions: Sequence[Asked]) -> Columns:
    start, end = (_Tracks(questions, at) for at in (0, 1))
    names = (
        "leaves off",
        "comes off",
        "missed",
        "turning",
        "turns",
        "longest",
        "first",
        "last",
        "whole",
        "sum of squares",
        "area",
        "off asked",
        "over the straight way",
        "strays",
        "reversals",
        "asked along",
        "near others",
        "first off way",
        "last off way",
        "clips passed",
        "shortest",
        "axis asked",
    )
    rows = np.zeros((len(questions), len(questions[0][1]), len(names)))
    direct = end.first - start.last
    for row, (asked, options) in enumerate(questions):
        begin, stop = start.last[row, 0], end.first[row, 0]
        spots = np.array([place.xy_m for place in asked.spots.values()])
        spot = np.array(asked.spots[asked.asked].xy_m) if asked.asked in asked.spots else None
        axis = (
            _unit(spot - np.array(asked.posts[asked.asked].xy_m))
            if spot is not None and asked.asked in asked.posts
            else None
        )
        for at, option in enumerate(options):
            runs = _runs(option)
            if not runs:
                continue
            lengths = np.array([metres for metres, _ in runs])
            steps = _TURNS[[way for _, way in runs]]
            corners = corners_of(begin, option)
            turns = _angle(steps[:-1], steps[1:]) if len(runs) > 1 else np.zeros(1)
            side = steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0]
            nearest, along = _nearest(corners, spot) if spot is not None else (0.0, 0.0)
            to_spots = np.array([_nearest(corners, each)[0] for each in spots])
            leg = int(np.searchsorted(np.cumsum(lengths), along * lengths.sum()))
            rows[row, at] = (
                _angle(start.going[row, 0], steps[0]),
                _angle(end.coming[row, 0], steps[-1]),
                np.linalg.norm(corners[-1] - stop),
                turns.sum(),
                len(runs),
                lengths.max(),
                lengths[0],
                lengths[-1],
                lengths.sum(),
                (lengths**2).sum(),
                abs(_area(corners)),
                nearest,
                lengths.sum() / max(np.linalg.norm(direct[row, 0]), 1.0),
                max(float(_cross(corner - begin, _unit(stop - begin))) for corner in corners),
                float((np.diff(np.sign(side)) != 0).sum()) if len(side) > 1 else 0.0,
                along,
                float(np.sort(to_spots)[:4].sum()),
                _angle(direct[row, 0], steps[0]),
                _angle(direct[row, 0], steps[-1]),
                float((to_spots < 15.0).sum()),
                lengths.min(),
                _cross(axis, steps[min(leg, len(steps) - 1)]) if axis is not None else 0.0,
            )
    return {name: rows[:, :, at] for at, name in enumerate(names)}


def _runs(option: str) -> list[tuple[float, int]]:
    """The metres and the direction (a place in EIGHTHS) of each run of a described motion."""
    return [(float(metres), EIGHTHS.index(way)) for metres, way in RUN.findall(option)]


def corners_of(begin: Sequence[float] | Floats, option: str) -> Floats:
    """Where a described motion leads, run by run, from where it begins."""
    steps = [metres * _TURNS[way] for metres, way in _runs(option)]
    return np.cumsum([np.asarray(begin, dtype=np.float64), *steps], axis=0)


def _nearest(corners: Floats, spot: Floats) -> tuple[float, float]:
    """How near a walk comes to a point, and at which share of its length."""
    legs = np.diff(corners, axis=0)
    lengths = np.maximum(np.linalg.norm(legs, axis=1), TINY)
    share = np.clip(((spot - corners[:-1]) * legs).sum(axis=1) / lengths**2, 0, 1)
    off = np.linalg.norm(corners[:-1] + share[:, None] * legs - spot, axis=1)
    best = int(off.argmin())
    return float(off[best]), float((lengths[:best].sum() + share[best] * lengths[best]) / lengths.sum())


def _area(corners: Floats) -> float:
    x, y = corners.T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


_OF_TASK: Mapping[str, Callable[[Sequence[Asked]], Columns]] = {
    "GL": _between_clips,
    "ATI": _interval,
    "MS": _motion,
    "CR": _order,
    "NSF": _next,
    "TF": _next,
    "MTTF": _meeting,
}
