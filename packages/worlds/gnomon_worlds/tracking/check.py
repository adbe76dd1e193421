"""Tells what a recording is, camera by camera, as a document and as text, before questions are made of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from gnomon_worlds.tracking.calibration import foot_points, is_mirrored
from gnomon_worlds.tracking.cleaning import clean
from gnomon_worlds.tracking.look import Look, speeds_of
from gnomon_worlds.tracking.pictures import edges_of
from gnomon_worlds.tracking.report import or_dash
from gnomon_worlds.tracking.sightings import gap_s_of, usual_step_s

HEAD = (
    "\ncamera        boxes  targets  picture (from)                      frames/s  axes"
    "          m/px   stands – sees"
)
LENGTHS_S = (1.0, 5.0, 20.0, 60.0)  # that part tracks into classes


def checked(look: Look) -> dict[str, Any]:
    """All that was found out about a recording. Lengths are in metres, times in seconds, sizes in pixels."""
    tracking, boxes = look.tracking, look.tracking.boxes
    sightings = [one for seen in look.seen.values() for one in seen]
    lengths = Counter(
        int(np.searchsorted(LENGTHS_S, one.end_s - one.start_s, side="right")) for one in sightings
    )
    cameras_of = Counter(len({one.camera for one in seen}) for seen in look.seen.values())
    names = ["under 1 s", "1 to 5 s", "5 to 20 s", "20 to 60 s", "over 60 s"]
    return {
        "site": tracking.id,
        "kind": tracking.kind,
        "targets": look.by_kind,
        "boxes": len(boxes),
        "lasts_s": round(float(np.ptp(boxes.time_s)), 3) if len(boxes) else 0.0,
        "step_s": round(usual_step_s(tracking), 4),
        "a_break_is_over_s": round(gap_s_of(tracking), 2),
        "sees": tracking.sees,
        "cameras": [_camera(look, index) for index in range(len(tracking.cameras))],
        "sightings": {name: lengths[number] for number, name in enumerate(names)},
        "targets_by_number_of_cameras": {str(number): cameras_of[number] for number in sorted(cameras_of)},
        "speeds_mps": _speeds(look),
        "overlap": [asdict(pair) for pair in look.pairs],
        "cleaning": [asdict(count) for count in clean(tracking, look.ground).counts],
        "notes": list(tracking.notes),
        "findings": [asdict(finding) for finding in look.findings],
        "fit": not any(finding.refused for finding in look.findings),
    }


def _camera(look: Look, index: int) -> dict[str, Any]:
    tracking, boxes = look.tracking, look.tracking.boxes
    camera, rows = tracking.cameras[index], boxes.camera == index
    calibration = look.calibrated.get(camera.id)
    on_floor = rows & look.ground.on_floor
    times_s = np.unique(boxes.time_s[rows])
    steps_s = np.diff(times_s)
    edges = edges_of(tracking, index)
    seen_m = np.median(look.ground.xy_m[on_floor], axis=0) if on_floor.any() else None
    eye_m = look.eye_m(camera)
    mirrored = bool(
        calibration
        and on_floor.any()
        and is_mirrored(calibration.homography, foot_points(boxes.ltwh[on_floor]))
    )
    return {
        "camera": camera.id,
        "floor": camera.floor,
        "boxes": int(rows.sum()),
        "targets": len(np.unique(boxes.target[rows])),
        "picture": {
            "size": camera.image_size,
            "from": camera.size_from if camera.image_size else "not known",
            "boxes_reach": [round(at) for at in edges.reach],
        },
        "frames_per_s": round(1 / float(steps_s.min()), 2) if len(steps_s) else None,
        "first_s": round(float(times_s[0]), 3) if len(times_s) else None,
        "last_s": round(float(times_s[-1]), 3) if len(times_s) else None,
        "calibration": calibration.source if calibration else None,
        "rms_m": calibration.rms_m if calibration else None,
        "held_out_m": calibration.held_out_m if calibration else None,
        "m_per_px": round(float(np.median(look.ground.m_per_px[on_floor])), 4) if on_floor.any() else None,
        "axes": None if not on_floor.any() else "mirrored" if mirrored else "right-handed",
        "boxes_off_the_floor": int((rows & ~look.ground.on_floor).sum()),
        "stands_at_m": None if eye_m is None else [round(float(at), 1) for at in eye_m],
        "sees_at_m": None if seen_m is None else [round(float(at), 1) for at in seen_m],
        "far_m": None if eye_m is None or seen_m is None else round(float(np.linalg.norm(seen_m - eye_m)), 1),
    }


def _speeds(look: Look) -> dict[str, dict[str, float]]:
    """Of each kind the median and the 95th percentile of speeds in view."""
    by_body: dict[str, dict[str, float]] = {}
    for body, speeds in sorted(speeds_of(look.tracking, look.ground, look.seen).items()):
        middle, high = np.quantile(speeds, (0.5, 0.95)).tolist()
        by_body[body] = {"median": round(middle, 2), "high": round(high, 2), "tracks": len(speeds)}
    return by_body


def in_text(document: Mapping[str, Any]) -> Iterator[str]:
    """The document's lines for a person, what matters most first."""
    targets = " and ".join(f"{count:,} {body}s" for body, count in document["targets"].items())
    yield (
        f"{document['site']}: {document['boxes']:,} boxes of {targets} in {len(document['cameras'])} cameras,"
        f" {document['lasts_s'] / 60:.1f} min, a box every {document['step_s']:g} s."
    )
    refused = [finding for finding in document["findings"] if finding["refused"]]
    for title, findings in (
        ("Mend this first: no question is made before", refused),
        ("Know this", [finding for finding in document["findings"] if not finding["refused"]]),
    ):
        if findings:
            yield f"\n{title}"
            for finding in findings:
                where = f"camera {finding['camera']}: " if finding["camera"] else ""
                yield f"  {finding['kind']}: {where}{finding['text']}"
    for note in document["notes"]:
        yield f"  note: {note}"
    yield HEAD
    for camera in document["cameras"]:
        size = camera["picture"]["size"]
        picture = "–" if size is None else f"{size[0]} × {size[1]} ({camera['picture']['from']})"
        yield (
            f"{camera['camera']:<12} {camera['boxes']:>6,} {camera['targets']:>8,}  {picture:<35}"
            f" {or_dash(camera['frames_per_s'], 'g'):>8}  {camera['axes'] or '–':<12}"
            f" {or_dash(camera['m_per_px'], '.3f'):>6}   {or_dash(camera['far_m'], '.0f')} m"
        )
    held_out = [camera for camera in document["cameras"] if camera["rms_m"] is not None]
    for camera in held_out:
        left_out = or_dash(camera["held_out_m"], ".3f")
        yield f"  {camera['camera']}: pairs fitted {camera['rms_m']:.3f} m off, left out {left_out} m off"
    yield "\nsightings: " + ", ".join(f"{count:,} {name}" for name, count in document["sightings"].items())
    by_number = document["targets_by_number_of_cameras"].items()
    yield "targets by number of cameras: " + ", ".join(
        f"{count:,} in {number}" for number, count in by_number
    )
    for body, speed in document["speeds_mps"].items():
        yield (
            f"speed of {body}s in view: {speed['median']} m/s in the middle, {speed['high']} at the fast end"
            f" ({speed['tracks']:,} sightings)"
        )
    for pair in document["overlap"]:
        apart = "" if pair["apart_m"] is None else f", {pair['apart_m']:.1f} m apart"
        both = " and ".join(pair["cameras"])
        yield f"overlap of {both}: {pair['moments']:,} of {pair['of']:,} moments{apart}"
    yield "\ncleaning"
    for count in document["cleaning"]:
        yield f"  {count['step']}: {count['count']:,} of {count['of']:,} {count['unit']}, {count['what']}"
