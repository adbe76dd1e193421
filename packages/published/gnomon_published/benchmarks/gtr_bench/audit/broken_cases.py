"""Finds what is wrong with single questions, and with the homographies they rely on."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from gnomon.core.sample import DataFault, Sample
from gnomon_published.benchmarks.gtr_bench.case import Case, Clip, body_of
from gnomon_tools.scene.scene import Camera, Scene

SINGULAR = 1e12  # a matrix of a larger condition number, rows scaled, has no inverse worth using


def case_faults(samples: Sequence[Sample]) -> Iterator[DataFault]:
    """Phantom and unplaced cameras, repeated questions, and invalid homographies.

    A homography is invalid if it has no inverse, or if a track is on both sides of its horizon.
    """
    cameras: dict[str, Camera] = {}
    for sample in samples:
        case: Case = sample.target["case"]
        scene = sample.scene
        cameras |= scene.cameras if scene is not None else {}
        yield from _unplaced(case, scene)
        for clip in case.clips:
            camera = scene.cameras.get(clip.camera_id) if scene is not None else None
            if camera is not None and _crosses_horizon(camera, clip):
                detail = f"the track in {clip.camera_id} crosses the horizon of its homography"
                yield DataFault(sample_id=case.case_id, kind="horizon", detail=detail)
    yield from _repeats([sample.target["case"] for sample in samples])
    for camera in cameras.values():
        if camera.homography is not None and not _has_inverse(camera):
            yield DataFault(sample_id="", kind="homography", detail=f"that of {camera.id} has no inverse")


def _unplaced(case: Case, scene: Scene | None) -> Iterator[DataFault]:
    """Cameras of CR options that are in no clip, and others that the map, if it was read, does not show."""
    cameras = scene.cameras.values() if scene is not None else ()
    placed = {camera.id for camera in cameras if camera.xy_m}
    lost = {camera.id for camera in cameras if not camera.xy_m} if placed else set()
    filmed = {clip.camera_id for clip in case.clips}
    for choice in case.choices if case.task.short == "CR" else ():
        for name in sorted(set(body_of(choice).split(" → ")) - filmed):
            where = ", nor on the map" if placed and name not in placed else ""
            detail = f"{name} in option {choice[0]} is in no clip{where}"
            yield DataFault(sample_id=case.case_id, kind="phantom_camera", detail=detail)
            lost.discard(name)
    if lost:
        detail = f"{', '.join(sorted(lost))} not found on the map: absent, or printed over"
        yield DataFault(sample_id=case.case_id, kind="unplaced_camera", detail=detail)


def _repeats(cases: Sequence[Case]) -> Iterator[DataFault]:
    """Questions of one task about the very same clips, whatever the cameras are called."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for case in cases:
        clips = sorted((clip.start_s, clip.end_s, clip.bboxes) for clip in case.clips)
        groups[case.cell, tuple(clips)].append(case.case_id)
    for first, *repeats in groups.values():
        if repeats:
            detail = f"the clips are also those of {', '.join(repeats)}"
            yield DataFault(sample_id=first, kind="same_clips", detail=detail)


def _has_inverse(camera: Camera) -> bool:
    matrix = np.asarray(camera.homography, dtype=np.float64)
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    if not np.all(np.isfinite(matrix)) or np.any(largest == 0):
        return False
    return bool(np.linalg.cond(matrix / largest) < SINGULAR)


def _crosses_horizon(camera: Camera, clip: Clip) -> bool:
    """Whether the foot points of one clip have depths of both signs."""
    if camera.homography is None:
        return False
    feet = np.array([(x + width / 2, y + height, 1.0) for x, y, width, height in clip.bboxes])
    depths = feet @ camera.homography[2]
    return bool(depths.min() <= 0 <= depths.max())
