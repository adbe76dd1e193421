"""Reads the published layouts of CityFlow (AI City Challenge) and MTMMC into the neutral form.

Both give one text file of boxes per camera. CityFlow: frame from 1, identity, left, top, width, height, four
more; a calibration of GPS to pixels, and offsets between the cameras' clocks. MTMMC: frame from 0, identity,
left, top, width, height; the building and its homographies come from elsewhere (docs/building-questions.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnomon.core.errors import DataError
from gnomon_published.homography import HorizonError, to_ground
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.tracking.calibration import foot_points
from gnomon_worlds.tracking.neutral_form import (
    Array,
    Lens,
    TrackedCamera,
    Tracking,
    boxes_of,
    number_at,
    scene_at,
)
from gnomon_worlds.tracking.pictures import fps_of_clip, size_of_picture
from gnomon_worlds.tracking.tables import csv_rows, text_of

CITYFLOW_FPS = 10.0
CITYFLOW_SLOW = {"c015": 8.0}  # the one camera of the data set with another rate
MTMMC_FPS = 23.0
GT = Path("gt") / "gt.txt"
CALIBRATION = Path("calibration.txt")
MOT_FIELDS = ("frame", "ID", "left", "top", "width", "height")
SUBMITTED = ("camera", "ID", "frame", "left", "top", "width", "height")
SMALLEST = 1e-9  # a box is at least so wide and high
HALF_WAY = (0.5, 0.8)  # of the picture's width and height: a pixel that shows the floor


def read_boxes(path: Path, *, first_frame: int) -> tuple[Array, list[str]]:
    """The rows of a file of boxes (n × 5: frame from 0, left, top, width, height), and each row's identity.

    Raises:
        DataError: file, line and field of what is wrong.
    """
    rows, targets = [], []
    for at in _numbered(path, MOT_FIELDS, {"frame": first_frame}, name=_name(path)):
        rows.append((at["frame"] - first_frame, at["left"], at["top"], at["width"], at["height"]))
        targets.append(str(int(at["ID"])))
    return np.array(rows, dtype=float).reshape(-1, 5), targets


def lines_of_words(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a file that are not empty, as words between commas or spaces, with their numbers."""
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        if line.strip():
            yield number, line.replace(",", " ").split()


def _numbered(
    path: Path, fields: Sequence[str], least: Mapping[str, float], *, name: str
) -> Iterator[dict[str, float]]:
    """The numbers of each line of boxes by field, none below the least; errors call the file `name`."""
    for line, words in lines_of_words(path):
        if len(words) < len(fields):
            raise DataError(
                f"{name}, line {line}: {len(words)} fields instead of {', '.join(fields)}",
                field=fields[len(words)],
            )
        at = {
            field: number_at(text, file=path, line=line, field=field, low=-1e6)
            for field, text in zip(fields, words, strict=False)
        }
        for field, low in (*least.items(), ("width", SMALLEST), ("height", SMALLEST)):
            if at[field] < low:
                raise DataError(f"{name}, line {line}: {at[field]:g} is too small", field=field)
        if at["ID"] < 0:
            raise DataError(
                f"{name}, line {line}: identity {at['ID']:g} is none: these are detections, not tracks",
                field="ID",
            )
        yield at


def _name(path: Path) -> str:
    """The end of a path that tells camera and file: `c001/gt/gt.txt`."""
    return "/".join(path.parts[-3:])


def _scenario(folder: Path, name: str | None, pattern: str, marker: Path = GT) -> Path:
    """The scenario's folder, whose cameras have the file `marker`: `folder`, or one of that name below."""
    if name is None and any(folder.glob(f"c[0-9]*/{marker}")):
        return folder
    below = sorted(
        path
        for depth in ("", "*/", "*/*/")
        for path in folder.glob(f"{depth}{pattern}")
        if path.is_dir() and any(path.glob(f"c[0-9]*/{marker}"))
    )
    if name is not None:
        below = [path for path in below if path.name == name]
    if len(below) == 1:
        return below[0]
    if not below:
        raise DataError(
            f"{folder} holds no camera with {marker}" + (f" in {name}" if name else ""), field="--from"
        )
    names = ", ".join(dict.fromkeys(path.name for path in below))
    raise DataError(f"{folder} holds several scenarios, name one: {names}", field="--scenario")


def read_submission(path: Path) -> dict[str, tuple[Array, list[str]]]:
    """The boxes of a submission to the AI City Challenge, by camera, as `read_boxes` gives them.

    A line is camera, identity, frame (from 1, or from 0), left, top, width, height; what follows is not read.

    Raises:
        DataError: file, line and field of what is wrong.
    """
    by_camera: dict[str, tuple[list[list[float]], list[str]]] = {}
    for at in _numbered(path, SUBMITTED, {"camera": 0, "frame": 0}, name=path.name):
        rows, ids = by_camera.setdefault(f"c{int(at['camera']):03d}", ([], []))
        rows.append([at[name] for name in ("frame", "left", "top", "width", "height")])
        ids.append(str(int(at["ID"])))
    first = min((row[0] for rows, _ in by_camera.values() for row in rows), default=0.0)
    counted_from = [1.0 if first >= 1 else 0.0, 0.0, 0.0, 0.0, 0.0]
    return {camera: (np.array(rows) - counted_from, ids) for camera, (rows, ids) in by_camera.items()}


def read_cityflow(
    folder: Path,
    *,
    scenario: str | None = None,
    scene: Path | None = None,
    fps: float | None = None,
    tracks: str | None = None,
) -> Tracking:
    """Read a scenario `S01/c001/{gt/gt.txt, calibration.txt, roi.jpg}`, with `cam_timestamp/S01.txt`.

    `tracks` names what to read in place of gt/gt.txt: a submission with the boxes of all cameras, or a file
    in each camera's folder.

    Raises:
        DataError: a file is absent or wrong; the message names file, line and field.
    """
    home = _scenario(folder, scenario, "S[0-9]*", CALIBRATION)
    given = scene_at(scene) if scene else None
    offsets_s, notes = _offsets_s(home)
    untold = [path.name for path in sorted(home.glob("c[0-9]*")) if offsets_s and path.name not in offsets_s]
    if untold:
        notes.append(
            f"cam_timestamp/{home.name}.txt does not tell when they start, taken as 0: {', '.join(untold)}"
        )
    cameras: list[TrackedCamera] = []
    parts: list[tuple[int, Array, Array]] = []
    targets: list[list[str]] = []
    assumed: dict[str, float] = {}
    all_boxes = read_submission(Path(tracks)) if tracks and Path(tracks).is_file() else None
    paths = sorted(
        path
        for path in home.glob("c[0-9]*")
        if path.is_dir() and (all_boxes is None or path.name in all_boxes)
    )
    if not paths:
        raise DataError(f"{tracks} has no box of a camera of {home.name}", field="--tracks")
    calibrations = {path.name: read_calibration(path / "calibration.txt") for path in paths}
    sizes = {
        path.name: size_of_picture(path / "roi.jpg") if (path / "roi.jpg").is_file() else None
        for path in paths
    }
    read = all_boxes or {path.name: read_boxes(path / (tracks or GT), first_frame=1) for path in paths}
    empty = [path for path in paths if sizes[path.name] is None and not len(read[path.name][1])]
    paths = [path for path in paths if path not in empty]
    if empty:
        notes.append(f"no box and no roi.jpg, left out: {', '.join(path.name for path in empty)}")
    middles = [
        _middle_deg(calibrations[path.name], sizes[path.name], read[path.name][0][:, 1:]) for path in paths
    ]
    frame = given.frame if given else _frame_about(middles)
    for path, middle_deg in zip(paths, middles, strict=True):
        rows, ids = read[path.name]
        calibration = calibrations[path.name]
        homography = _to_metres(frame, middle_deg) @ np.asarray(calibration.homography)
        clip = next((path / name for name in ("vdo.avi", "vdo.mp4") if (path / name).is_file()), None)
        cameras.append(
            replace(
                calibration,
                homography=homography / np.abs(homography).max(),
                image_size=sizes[path.name],
                size_from="read from roi.jpg",
                clip=clip,
            )
        )
        rate = fps or (fps_of_clip(clip) if clip else None)
        if rate is None:
            rate = assumed[path.name] = CITYFLOW_SLOW.get(path.name, CITYFLOW_FPS)
        parts.append((len(parts), rows[:, 0] / rate + offsets_s.get(path.name, 0.0), rows))
        targets.append(ids)
    if assumed:
        told = ", ".join(f"{name} {rate:g}" for name, rate in assumed.items())
        notes.append(f"frames a second as the data set has them, told by no clip and no --fps: {told}")
    boxes, names = boxes_of(parts, targets)
    return Tracking(
        id=home.name,
        kind="outdoor",
        body="vehicle",
        cameras=tuple(cameras),
        targets=names,
        boxes=boxes,
        frame=frame,
        scene=given,
        notes=tuple(notes),
    )


def _offsets_s(home: Path) -> tuple[dict[str, float], list[str]]:
    """Each camera's first frame on the scenario's clock, in seconds."""
    roots = [home, *list(home.parents)[:3]]
    path = next(
        (root / "cam_timestamp" / f"{home.name}.txt" for root in roots
         if (root / "cam_timestamp" / f"{home.name}.txt").is_file()),
        None,
    )  # fmt: skip
    if path is None:
        return {}, [f"no cam_timestamp/{home.name}.txt: all cameras are taken to start together"]
    offsets_s = {}
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        fields = line.split()
        if len(fields) == 2:
            offsets_s[fields[0]] = number_at(fields[1], file=path, line=number, field="timestamp", low=0)
        elif fields:
            raise DataError(f"cam_timestamp/{path.name}, line {number}: not a camera and its seconds")
    return offsets_s, []


def read_calibration(path: Path) -> TrackedCamera:
    """A camera of CityFlow; its homography here maps (undistorted) pixels to latitude and longitude.

    Raises:
        DataError: the file is absent or wrong; line and field are named.
    """
    lines = {}
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        name, colon, value = line.partition(":")
        if colon and value.strip():
            lines[name.strip().lower()] = number, value.strip()
        elif line.strip():
            raise DataError(f"{_name(path)}, line {number}: not a name, a colon and numbers")
    if "homography matrix" not in lines:
        raise DataError(f"{_name(path)} has no line of it", field="Homography matrix")
    matrix = _numbers(path, lines, "Homography matrix", 9).reshape(3, 3)
    if not np.isfinite(np.linalg.cond(matrix)):
        raise DataError(f"{_name(path)}: it has no inverse", field="Homography matrix")
    lens = None
    if "distortion coefficients" in lines:
        if "intrinsic parameter matrix" not in lines:
            raise DataError(f"{_name(path)}: distortion needs it", field="Intrinsic parameter matrix")
        k1, k2, p1, p2 = _numbers(path, lines, "Distortion coefficients", 4)
        intrinsic = _numbers(path, lines, "Intrinsic parameter matrix", 9).reshape(3, 3)
        lens = Lens(intrinsic=intrinsic, distortion=(float(k1), float(k2), float(p1), float(p2)))
    error = _numbers(path, lines, "Reprojection error", 1)[0] if "reprojection error" in lines else None
    return TrackedCamera(
        id=path.parent.name,
        homography=np.asarray(np.linalg.inv(matrix), dtype=float),
        lens=lens,
        published_error=None if error is None else float(error),
    )


def _numbers(path: Path, lines: Mapping[str, tuple[int, str]], name: str, count: int) -> Array:
    number, text = lines[name.lower()]
    values = [
        number_at(value, file=path, line=number, field=name, low=-1e30, high=1e30)
        for value in text.replace(";", " ").replace(",", " ").split()
    ]
    if len(values) < count:
        raise DataError(f"{_name(path)}, line {number}: {len(values)} numbers instead of {count}", field=name)
    return np.array(values[:count])


def _middle_deg(camera: TrackedCamera, size: tuple[int, int] | None, ltwh: Array) -> tuple[float, float]:
    """Longitude and latitude in the middle of a picture's lower half, or of the feet where it has no size."""
    at = np.median(foot_points(ltwh), axis=0) if size is None else np.multiply(size, HALF_WAY)
    try:
        lat_deg, lon_deg = to_ground(np.asarray(camera.homography), at[None])[0].tolist()
    except HorizonError:
        lat_deg, lon_deg = 999.0, 999.0
    if not (-90 <= lat_deg <= 90 and -180 <= lon_deg <= 180):
        raise DataError(
            f"{camera.id}/calibration.txt: it leads to no latitude and longitude", field="Homography matrix"
        )
    return lon_deg, lat_deg


def _frame_about(positions_deg: Sequence[tuple[float, float]]) -> Frame:
    lon_deg, lat_deg = np.mean(positions_deg, axis=0).tolist()
    return Frame(lon_deg=lon_deg, lat_deg=lat_deg, anchored=True)


def _to_metres(frame: Frame, middle_deg: tuple[float, float]) -> Array:
    """Latitude and longitude to metres, linear about a place: within 1 mm over 100 m."""
    lon_deg, lat_deg = middle_deg
    step_deg = 5e-4
    here = np.array(frame.to_local(middle_deg))
    east = (
        np.array(frame.to_local((lon_deg + step_deg, lat_deg)))
        - frame.to_local((lon_deg - step_deg, lat_deg))
    ) / (2 * step_deg)
    north = (
        np.array(frame.to_local((lon_deg, lat_deg + step_deg)))
        - frame.to_local((lon_deg, lat_deg - step_deg))
    ) / (2 * step_deg)
    shift = here - north * lat_deg - east * lon_deg
    return np.array([[north[0], east[0], shift[0]], [north[1], east[1], shift[1]], [0, 0, 1.0]])


def read_mtmmc(
    folder: Path,
    *,
    scenario: str | None = None,
    scene: Path | None = None,
    homographies: Path | None = None,
    fps: float | None = None,
) -> Tracking:
    """Read a scenario `s01/c01/{gt/gt.txt, rgb/000000.jpg}` in a building whose scene has the cameras.

    Without `scene` the building is that of GTR-Bench; `homographies` is its published file of them.

    Raises:
        DataError: a file is absent or wrong; the message names file, line and field.
    """
    from gnomon_published.benchmarks.gtr_bench.scenes import indoor_scene

    home = _scenario(folder, scenario, "s[0-9]*")
    building: Scene = scene_at(scene) if scene else indoor_scene(homographies)
    cameras: list[TrackedCamera] = []
    parts: list[tuple[int, Array, Array]] = []
    targets: list[list[str]] = []
    unknown: list[str] = []
    for path in sorted(path for path in home.glob("c[0-9]*") if (path / GT).is_file()):
        camera = building.cameras.get(path.name)
        if camera is None:
            unknown.append(path.name)
            continue
        rows, ids = read_boxes(path / GT, first_frame=0)
        clip = path / "rgb"
        cameras.append(
            TrackedCamera(
                id=path.name,
                floor=camera.floor,
                homography=camera.homography,
                image_size=camera.image_size,
                xy_m=camera.xy_m,
                clip=clip if clip.is_dir() else None,
            )
        )
        parts.append((len(parts), rows[:, 0] / (fps or MTMMC_FPS), rows))
        targets.append(ids)
    if not cameras:
        raise DataError(f"none of the cameras of {home.name} is in the scene {building.id}", field="scene")
    boxes, names = boxes_of(parts, targets)
    return Tracking(
        id=home.name,
        kind="indoor",
        body="pedestrian",
        cameras=tuple(cameras),
        targets=names,
        boxes=boxes,
        frame=building.frame,
        scene=building,
        notes=(f"not in the scene, left out: {', '.join(unknown)}",) if unknown else (),
    )


def read_point_pairs(path: Path) -> dict[str, Array]:
    """Point pairs by camera (n × 4), from a CSV with the columns camera, u, v, x and y (pixels, metres).

    Raises:
        DataError: file, line and field of what is wrong.
    """
    pairs: dict[str, list[list[float]]] = {}
    for line, fields in csv_rows(path, ("camera", "u", "v", "x", "y")):
        numbers = [number_at(fields[name], file=path, line=line, field=name) for name in ("u", "v", "x", "y")]
        pairs.setdefault(fields["camera"].strip(), []).append(numbers)
    return {camera: np.array(numbers) for camera, numbers in pairs.items()}
