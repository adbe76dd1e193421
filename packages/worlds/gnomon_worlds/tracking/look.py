"""Finds what is wrong with a recording's sizes, axes, units, clocks and positions, and which views overlap.

What would make answers wrong is refused; what makes fewer questions, or coarser ones, is said.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from gnomon.core.errors import DataError
from gnomon_worlds.tracking.calibration import (
    LOWEST_DEG,
    Calibration,
    GroundPoints,
    calibrate,
    foot_points,
    is_mirrored,
    project,
    with_pairs,
)
from gnomon_worlds.tracking.cleaning import LIMITS, places_at
from gnomon_worlds.tracking.neutral_form import (
    LONGEST_S,
    Array,
    BodyKind,
    TrackedCamera,
    Tracking,
    from_the_first,
)
from gnomon_worlds.tracking.pictures import BOUNDED, disproved, edges_of, outside, sized, too_large
from gnomon_worlds.tracking.regions import with_cut_views
from gnomon_worlds.tracking.sightings import Seen, gap_s_of, seen_of, tracks_of, usual_step_s, with_passed
from gnomon_worlds.tracking.site_world import FAR_M

RARE_S = 10.0  # boxes that are further apart tell no path
SPEEDS_MPS: Mapping[BodyKind, tuple[float, float]] = {"vehicle": (35.0, 60.0), "pedestrian": (2.5, 8.0)}
SLOW_MPS: Mapping[BodyKind, float] = {"vehicle": 1.0, "pedestrian": 0.3}  # if hardly anybody is faster
LYING = 1.3  # people's boxes that are so many times as wide as high show them on their side
LATE_S = 60.0  # a camera whose boxes all come so long before or after those of the others
GLIMPSES = 0.5  # share of sightings under a second from which it is said
SHIFTS_S = np.arange(-25, 26) / 5  # by which the clocks of two cameras are tried
COMPARED = 30  # targets, and moments of each, at most, for that
TOGETHER = 40  # moments, at least, at which two cameras have a target in view, to compare their clocks
TRANSITIONS = 10  # from camera to camera, at least, to judge identities
MEETINGS, FEW_ODD = 4, 4  # of them, at least, to judge one camera by; of so many cameras one may be odd
APART = 0.2  # share of them that nobody could make that is too many
OVERLAPPING = 0.1  # share of sightings during which another camera sees the target, from which it is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a recording's owner should know; `refused`: no question is made before it is mended.

    `camera` is empty where it is about all.
    """

    kind: str
    text: str
    camera: str = ""
    refused: bool = False

    def __str__(self) -> str:
        return f"camera {self.camera}: {self.text}" if self.camera else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two cameras that see the same targets at the same time.

    `moments` of `of` (those of the camera with fewer) are shared; the targets are `apart_m` from where the
    other camera sees them (median). With the second clock `shift_s` later it would be `shifted_m`.
    """

    cameras: tuple[str, str]
    moments: int
    of: int
    apart_m: float | None = None
    shift_s: float = 0.0
    shifted_m: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A recording as questions will be made of it, with all that was found out."""

    tracking: Tracking
    calibrated: Mapping[str, Calibration]
    ground: GroundPoints
    seen: Mapping[int, Sequence[Seen]]
    pairs: tuple[Pair, ...]
    findings: tuple[Finding, ...]

    @property
    def by_kind(self) -> dict[BodyKind, int]:
        """How many targets of each kind are seen."""
        kinds = sorted(set(self.tracking.bodies or (self.tracking.body,)))
        return {kind: sum(self.tracking.body_of(target) == kind for target in self.seen) for kind in kinds}

    def eye_m(self, camera: TrackedCamera) -> tuple[float, float] | None:
        """Where a camera stands, as the data say or else its calibration; None where neither does."""
        calibration = self.calibrated.get(camera.id)
        return camera.xy_m or (calibration.eye_m if calibration else None)

    def refuse(self) -> None:
        """Refuse a recording of which wrong answers would come.

        Raises:
            DataError: one of the findings forbids questions.
        """
        refused = [finding for finding in self.findings if finding.refused]
        if refused:
            more = f" ({len(refused) - 1} more: see `gnomon check-recording`)" if len(refused) > 1 else ""
            raise DataError(f"{refused[0]}{more}", field="recording")


def look_at(tracking: Tracking, pairs: Mapping[str, Array] | None = None, *, cut_views: bool = False) -> Look:
    """Find out about a recording all that can be told before questions are made.

    Raises:
        DataError: there is no box, no calibrated camera, or point pairs determine no homography or are of no
            camera.
    """
    if not len(tracking.boxes):
        raise DataError("there is no box", field="tracks")
    tracking = with_pairs(sized(_from_the_first(tracking)), pairs or {})
    calibrated, without = calibrate(tracking)
    ground = project(tracking, calibrated)
    findings = [
        *_of_clocks(tracking),
        *_of_boxes(tracking),
        *_of_pictures(tracking),
        *(
            Finding(kind="calibration", camera=name, text="no homography and no point pairs: it is left out")
            for name in without
        ),
        *_of_floors(tracking, calibrated, ground),
    ]
    shared = _pairs(tracking, ground)
    elsewhere = None
    if cut_views:
        tracking, rows, elsewhere, text = with_cut_views(tracking, ground)
        ground = GroundPoints(
            on_floor=ground.on_floor[rows], xy_m=ground.xy_m[rows], m_per_px=ground.m_per_px[rows]
        )
        findings.append(Finding(kind="overlap", text=text))
    gap_s = gap_s_of(tracking)
    seen = seen_of(tracking.boxes, gap_s)
    if elsewhere is not None:
        seen = with_passed(seen, seen_of(elsewhere, gap_s), gap_s)
    findings += _of_speeds(tracking, ground, seen)
    findings += [*_of_pairs(tracking, shared, seen), *_of_identities(tracking, ground, seen)]
    if tracking.kind == "outdoor" and not tracking.tracks and not (tracking.scene and tracking.scene.roads):
        findings.append(
            Finding(kind="roads", text="no road map: MotionState is not asked, and ways are straight lines")
        )
    return Look(
        tracking=tracking,
        calibrated=calibrated,
        ground=ground,
        seen=seen,
        pairs=shared,
        findings=tuple(findings),
    )


def _from_the_first(tracking: Tracking) -> Tracking:
    """The same with times that questions can tell."""
    times_s, notes = from_the_first(tracking.boxes.time_s)
    if not notes:
        return tracking
    past_s = tracking.boxes.time_s[0] - times_s[0]
    return replace(
        tracking,
        boxes=replace(tracking.boxes, time_s=times_s),
        tracks={
            name: replace(track, times_s=track.times_s - past_s) for name, track in tracking.tracks.items()
        },
        notes=(*tracking.notes, *notes),
    )


def _of_clocks(tracking: Tracking) -> list[Finding]:
    span_s = float(np.ptp(tracking.boxes.time_s))
    step_s = usual_step_s(tracking)
    findings = []
    if span_s > LONGEST_S:
        hours = f"{LONGEST_S / 3600:g} h"
        text = f"it lasts {span_s / 3600:.1f} h, and questions tell times of one day: cut it to {hours}"
        findings.append(Finding(kind="times", text=text, refused=True))
    if step_s > RARE_S:
        text = (
            f"boxes of a target come every {step_s:.0f} s, too rarely for a path: for positions by GPS use"
            " --from gps, which fills gaps in up to a bound; or are times milliseconds?"
        )
        findings.append(Finding(kind="times", text=text, refused=True))
    times_s = [
        tracking.boxes.time_s[tracking.boxes.camera == index] for index in range(len(tracking.cameras))
    ]
    for index, own_s in enumerate(times_s):
        others_s = [other_s for at, other_s in enumerate(times_s) if at != index and len(other_s)]
        if not len(own_s) or not others_s:
            continue
        before_s = min(other_s.min() for other_s in others_s) - own_s.max()
        after_s = own_s.min() - max(other_s.max() for other_s in others_s)
        if max(before_s, after_s) > LATE_S:
            side = "before" if before_s > 0 else "after"
            text = (
                f"all its boxes come {max(before_s, after_s):.0f} s or more {side} those of every other"
                " camera: is its clock off?"
            )
            findings.append(Finding(kind="clocks", camera=tracking.cameras[index].id, text=text))
    return findings


def _of_boxes(tracking: Tracking) -> list[Finding]:
    """Findings of what the four numbers of a box mean, and of cameras without any."""
    boxes, findings = tracking.boxes, []
    left, top, width, height = boxes.ltwh.T
    if (boxes.ltwh <= 2).all():
        text = "no box reaches beyond 2 pixels: are these shares of the picture? Pixels are needed"
        findings.append(Finding(kind="boxes", text=text, refused=True))
    elif len(boxes) >= TOGETHER and ((width > left) & (height > top)).mean() > 0.99:
        text = "are these left, top, right, bottom? A box needs width and height: all exceed left and top"
        findings.append(Finding(kind="boxes", text=text, refused=True))
    bodies = np.array([tracking.body_of(target) for target in range(len(tracking.targets))])
    empty, lying = list[str](), list[str]()
    for index, camera in enumerate(tracking.cameras):
        own = boxes.camera == index
        people = own & (bodies[boxes.target] == "pedestrian")
        if not own.any():
            empty.append(camera.id)
        elif people.any() and float(np.median(width[people] / height[people])) > LYING:
            lying.append(camera.id)
    for names, text in (
        (empty, "without a box"),
        (lying, "people are wider than high (is the picture turned by 90° against the boxes?)"),
    ):
        if names:
            findings.append(Finding(kind="boxes", text=f"{text}: {', '.join(names)}"))
    return findings


def _of_pictures(tracking: Tracking) -> list[Finding]:
    findings, bounded = [], []
    for index, camera in enumerate(tracking.cameras):
        ltwh = tracking.boxes.ltwh[tracking.boxes.camera == index]
        beside = outside(camera, ltwh)
        if text := disproved(camera, ltwh):
            hint = "; correct the size, and see that the calibration is for the same pixels"
            findings.append(Finding(kind="picture size", camera=camera.id, text=text + hint, refused=True))
        elif text := too_large(camera, edges_of(tracking, index)):
            findings.append(
                Finding(kind="picture size", camera=camera.id, text=f"{text}: taken as cut there")
            )
        elif beside:
            text = f"{beside:,} of {len(ltwh):,} boxes have their middle outside the picture"
            findings.append(Finding(kind="picture size", camera=camera.id, text=text))
        elif camera.size_from == BOUNDED and camera.image_size:
            bounded.append(f"{camera.id} ({camera.image_size[0]} × {camera.image_size[1]})")
    if bounded:
        text = f"the picture's size is not known; it is at least what boxes reach: {', '.join(bounded)}"
        findings.append(Finding(kind="picture size", text=text))
    return findings


def _of_floors(
    tracking: Tracking, calibrated: Mapping[str, Calibration], ground: GroundPoints
) -> list[Finding]:
    findings = []
    feet = foot_points(tracking.boxes.ltwh)
    for index, camera in enumerate(tracking.cameras):
        rows = tracking.boxes.camera == index
        if camera.id not in calibrated or not rows.any():
            continue
        on_floor = rows & ground.on_floor
        calibration = calibrated[camera.id]

        def say(kind: str, text: str, *, name: str = camera.id, refused: bool = False) -> None:
            findings.append(Finding(kind=kind, camera=name, text=text, refused=refused))

        if missed := int((rows & ~ground.on_floor).sum()):
            say(
                "horizon",
                f"{missed:,} of {int(rows.sum()):,} boxes have their feet beyond the horizon, or less than"
                f" {LOWEST_DEG:g}° below it: they are dropped",
            )
        if not on_floor.any():
            continue
        if is_mirrored(calibration.homography, feet[on_floor]):
            say(
                "axes",
                "its axes are mirrored: what is on the right in the picture lies on the left on the floor, so"
                " every turn would be told wrongly. Let x lead east and y north, or say which way they lead:"
                " `axes: east-south` (y leads south) or `axes: west-north` in site.yaml",
                refused=True,
            )
        if calibration.held_out_m is not None and calibration.rms_m is not None:
            left = f"; left out as outliers: {len(calibration.outliers)}" if calibration.outliers else ""
            if calibration.held_out_m > max(2 * calibration.rms_m, 0.05):
                say(
                    "residuals",
                    f"fitted pairs are off by {calibration.rms_m:.3f} m, a pair that is left out by"
                    f" {calibration.held_out_m:.3f} m: that is nearer to the truth{left}",
                )
        seen_m = np.median(ground.xy_m[on_floor], axis=0)
        for name, at_m in (
            ("the data place it", camera.xy_m),
            ("its calibration places it", calibration.eye_m),
        ):
            if at_m is None or (name.startswith("its") and at_m == camera.xy_m):
                continue
            near_m = np.linalg.norm(ground.xy_m[on_floor] - at_m, axis=1).min()
            if near_m > FAR_M[tracking.kind]:
                far_m = float(np.linalg.norm(seen_m - at_m))
                say("position", f"{name} {far_m:.0f} m from what it sees; on the map it stands near its view")
                break
    return findings


def speeds_of(
    tracking: Tracking, ground: GroundPoints, seen: Mapping[int, Sequence[Seen]]
) -> Mapping[BodyKind, Sequence[float]]:
    """By kind the speed (m/s) in each sighting of a second or more: from its first place to its last."""
    speeds: dict[BodyKind, list[float]] = {}
    for target, sightings in seen.items():
        for one in sightings:
            rows = one.rows[ground.on_floor[one.rows]]
            past_s = float(np.ptp(tracking.boxes.time_s[rows])) if len(rows) else 0.0
            if past_s >= 1.0:
                far_m = float(np.linalg.norm(ground.xy_m[rows[-1]] - ground.xy_m[rows[0]]))
                speeds.setdefault(tracking.body_of(target), []).append(far_m / past_s)
    return speeds


def _of_speeds(tracking: Tracking, ground: GroundPoints, seen: Mapping[int, Sequence[Seen]]) -> list[Finding]:
    """Findings of sightings that are short, and of units: how fast each kind of target is."""
    findings = []
    looks = [one for sightings in seen.values() for one in sightings]
    glimpses = sum(one.end_s - one.start_s < 1 for one in looks)
    if glimpses >= GLIMPSES * len(looks):
        text = f"{glimpses:,} of {len(looks):,} sightings are shorter than 1 s, and tell no path"
        findings.append(Finding(kind="tracks", text=text))
    speeds = speeds_of(tracking, ground, seen)
    fast = {body: float(np.quantile(values, 0.95)) for body, values in speeds.items()}
    slow = [body for body in fast if fast[body] < SLOW_MPS[body]]
    for body in slow if len(slow) == len(fast) else ():  # one kind alone may stand, as parked cars do
        text = (
            f"hardly any of {len(speeds[body]):,} sightings of {body}s is faster than {fast[body]:.2g} m/s:"
            " are the metres degrees or kilometres, or is the frame rate too low?"
        )
        findings.append(Finding(kind="units", text=text, refused=True))
    for body, values in speeds.items():
        middle, (odd, impossible) = float(np.median(values)), SPEEDS_MPS[body]
        if middle > odd:
            text = (
                f"half of all {len(values):,} sightings of {body}s are faster than {middle:.0f} m/s: are the"
                " metres centimetres or feet, or is the frame rate wrong?"
            )
            findings.append(Finding(kind="units", text=text, refused=middle > impossible))
    return findings


def _pairs(tracking: Tracking, ground: GroundPoints) -> tuple[Pair, ...]:
    """Every two cameras that see targets at the same time, with how far apart, and whether a shift helps."""
    boxes = tracking.boxes
    ticks: dict[int, set[tuple[int, float]]] = {}  # of each camera the targets and moments
    tracks: dict[tuple[int, int], np.ndarray] = {}
    for target, camera, rows in tracks_of(boxes, np.arange(len(boxes))):
        tracks[camera, target] = rows[ground.on_floor[rows]]
        moments = ticks.setdefault(camera, set())
        moments.update((target, round(time_s, 1)) for time_s in boxes.time_s[rows].tolist())
    pairs = []
    for first, second in combinations(sorted(ticks), 2):
        shared = ticks[first] & ticks[second]
        if not shared:
            continue
        names = tracking.cameras[first].id, tracking.cameras[second].id
        of = min(len(ticks[first]), len(ticks[second]))
        pair = Pair(cameras=names, moments=len(shared), of=of)
        if tracking.cameras[first].floor == tracking.cameras[second].floor:
            pair = _compared(
                pair, boxes.time_s, ground, tracks, (first, second), sorted({t for t, _ in shared})
            )
        pairs.append(pair)
    return tuple(pairs)


def _compared(
    pair: Pair,
    times_s: Array,
    ground: GroundPoints,
    tracks: Mapping[tuple[int, int], np.ndarray],
    cameras: tuple[int, int],
    targets: Sequence[int],
) -> Pair:
    """The pair with how far apart its cameras place the same targets, by any shift of the second's clock."""
    apart_m: list[list[Array]] = [[] for _ in SHIFTS_S]
    for target in targets[:: max(1, len(targets) // COMPARED)]:
        first, second = (tracks[camera, target] for camera in cameras)
        first = first[:: max(1, len(first) // COMPARED)]
        if len(first) < 2 or len(second) < 2:
            continue
        then_s = times_s[first][:, None] - SHIFTS_S  # by the second's own clock
        there_m = places_at(then_s, times_s[second], ground.xy_m[second])
        far_m = np.linalg.norm(there_m - ground.xy_m[first][:, None], axis=-1)
        within = (then_s >= times_s[second[0]]) & (then_s <= times_s[second[-1]])
        for number, parts in enumerate(apart_m):
            parts.append(far_m[within[:, number], number])
    least = [
        float(np.median(np.concatenate(parts))) if sum(map(len, parts)) >= TOGETHER else np.inf
        for parts in apart_m
    ]
    unshifted = len(SHIFTS_S) // 2
    if not np.isfinite(least[unshifted]):
        return pair
    best = int(np.argmin(least))
    return replace(pair, apart_m=least[unshifted], shift_s=float(SHIFTS_S[best]), shifted_m=least[best])


def _of_pairs(tracking: Tracking, pairs: Sequence[Pair], seen: Mapping[int, Sequence[Seen]]) -> list[Finding]:
    findings = []
    for pair in pairs:
        first, second = pair.cameras
        if pair.apart_m is None or pair.shifted_m is None:
            continue
        reach_m = LIMITS[tracking.body].apart_m
        if abs(pair.shift_s) >= 0.3 and pair.shifted_m < min(0.5 * pair.apart_m, pair.apart_m - 0.5):
            text = (
                f"its clock seems to be off by {-pair.shift_s:+.1f} s against that of {first}: targets are"
                f" then {pair.shifted_m:.1f} m apart instead of {pair.apart_m:.1f} m"
            )
            findings.append(Finding(kind="clocks", camera=second, text=text))
        elif pair.apart_m > reach_m:
            text = (
                f"{first} and it place the same targets {pair.apart_m:.0f} m apart: a wrong calibration,"
                " other identities, or a clock that is off by more than 5 s"
            )
            findings.append(Finding(kind="places", camera=second, text=text))
    everyone = [(one, others) for others in seen.values() for one in others]
    shared = sum(any(o.camera != one.camera and o.overlaps(one) for o in others) for one, others in everyone)
    if everyone and shared >= OVERLAPPING * len(everyone):
        hint = "" if tracking.sees == "feet" else "; --cut-views gives each a part of its view"
        text = (
            f"your cameras overlap: during {shared:,} of {len(everyone):,} sightings another camera sees the"
            f" target too, and the seven tasks need gaps between them{hint}; `gnomon generate overlaps`"
            " asks what needs such views"
        )
        findings.append(Finding(kind="overlap", text=text))
    return findings


def _of_identities(
    tracking: Tracking, ground: GroundPoints, seen: Mapping[int, Sequence[Seen]]
) -> list[Finding]:
    """Findings of identities that are not shared between cameras, or of a camera that lies elsewhere: one
    target is then in many places.
    """
    judged, impossible = Counter[int](), Counter[int]()  # by camera; each time counts for two
    for target, sightings in seen.items():
        limits = LIMITS[tracking.body_of(target)]
        for before, after in pairwise(sightings):
            if before.camera == after.camera:
                continue
            late, early = (one.rows[ground.on_floor[one.rows]] for one in (before, after))
            if not len(late) or not len(early):
                continue
            times_s = tracking.boxes.time_s
            last = late[max(int(np.searchsorted(times_s[late], times_s[early[0]], side="right")) - 1, 0)]
            way_m = float(np.linalg.norm(ground.xy_m[early[0]] - ground.xy_m[last]))
            gap_s = max(float(times_s[early[0]] - times_s[last]), 0.0)
            both = (before.camera, after.camera)
            judged.update(both)
            impossible.update(both if way_m > 2 * limits.apart_m + limits.speed_mps * gap_s else ())
    odd = [at for at in judged if judged[at] >= MEETINGS and impossible[at] > judged[at] / 2]
    times, of = impossible.total() // 2, judged.total() // 2
    cameras_of = [len({one.camera for one in sightings}) for sightings in seen.values()]
    if odd and FEW_ODD * len(odd) <= len(judged):
        worst = max(odd, key=lambda at: impossible[at] / judged[at])
        text = (
            "{:,} of {:,} times a target comes or goes sooner than anybody could: is its calibration wrong?"
        )
        text, camera = text.format(impossible[worst], judged[worst]), tracking.cameras[worst].id
        return [Finding(kind="places", camera=camera, text=text, refused=True)]
    if of >= TRANSITIONS and times >= APART * of:
        text = (
            f"{times:,} of {of:,} times a target turns up in the next camera sooner than anybody could:"
            " are identities numbered anew in each camera, are clocks off, or is a calibration wrong?"
        )
        return [Finding(kind="identities", text=text, refused=True)]
    if len(np.unique(tracking.boxes.camera)) > 1 and max(cameras_of, default=0) < 2:
        text = "no target is seen by two cameras: are identities numbered anew in each?"
        return [Finding(kind="identities", text=text)]
    return []
