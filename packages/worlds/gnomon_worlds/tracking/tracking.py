"""Reads the neutral form of multi-camera tracking: a site and its boxes.

It is described in docs/building-questions.md.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, ValidationError, model_validator

from gnomon.core.errors import DataError
from gnomon.core.validation import StrictModel
from gnomon_tools.core.regular_file import read_regular
from gnomon_tools.scene.document import SceneError
from gnomon_tools.scene.format import read_scene
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene

FORMAT = "gnomon-tracking/1"
SITE_FILE = "site.yaml"
TRACKS = ("tracks.csv", "tracks.parquet")
COLUMNS = ("camera", "target", "time_s", "left", "top", "width", "height")
MAX_BYTES = 4_000_000_000
SINGULAR = 1e-30  # a smaller determinant of a matrix whose largest number is 1 is zero
FRAMES_PER_S = 1000  # where a file has no frame numbers, frames are milliseconds

Array = NDArray[np.float64]
Kind = Literal["outdoor", "indoor"]
BodyKind = Literal["vehicle", "pedestrian"]
Number = Annotated[float, Field(ge=-1e7, le=1e7)]
Triple = tuple[FiniteFloat, FiniteFloat, FiniteFloat]  # a homography's scale is free
Matrix = tuple[Triple, Triple, Triple]


class SiteCamera(StrictModel):
    """One camera of `site.yaml`, with `homography` (pixels to metres), `points` (u, v, x, y) or neither."""

    floor: int = 0
    image_size: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] | None = None
    xy_m: tuple[Number, Number] | None = None
    homography: Matrix | None = None
    points: tuple[tuple[Number, Number, Number, Number], ...] | None = None
    clip: str = ""

    @model_validator(mode="after")
    def _is_calibrated_once(self) -> Self:
        if self.homography is not None and self.points is not None:
            raise ValueError("give homography or points, not both")
        if self.homography is not None:
            matrix = np.array(self.homography)
            if not matrix.any() or abs(np.linalg.det(matrix / np.abs(matrix).max())) < SINGULAR:
                raise ValueError("homography has no inverse")
        return self


class SiteFrame(StrictModel):
    """The origin of the site's metres on Earth."""

    lon_deg: Annotated[float, Field(ge=-180, le=180)]
    lat_deg: Annotated[float, Field(ge=-90, le=90)]


class Site(StrictModel):
    """`site.yaml`: metres x east, y north; `scene` is a scene file (docs/scenes.md) of roads or rooms."""

    format: Literal["gnomon-tracking/1"]
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
    kind: Kind
    targets: BodyKind | None = None
    frame: SiteFrame | None = None
    scene: str = ""
    cameras: Annotated[dict[str, SiteCamera], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """Radial and tangential distortion (k1, k2, p1, p2) of a lens with its 3 × 3 intrinsic matrix."""

    intrinsic: Array
    distortion: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedCamera:
    """A camera as its data set describes it; `homography` maps (undistorted) pixels to metres on its floor.

    `points` are pairs for a calibration (n × 4: u, v, x, y); `clip` is a video or a folder of numbered
    pictures.
    """

    id: str
    floor: int = 0
    homography: Array | None = None
    points: Array | None = None
    image_size: tuple[int, int] | None = None
    xy_m: tuple[float, float] | None = None
    lens: Lens | None = None
    clip: Path | None = None
    published_error: float | None = None  # of the data set's own calibration, in its unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """Boxes in the order of the files: indices of camera and target (n), frames (n), times (n, s), and
    left, top, width and height in pixels (n × 4).
    """

    camera: NDArray[np.intp]
    target: NDArray[np.intp]
    frame: NDArray[np.int64]
    time_s: Array
    ltwh: Array

    def __len__(self) -> int:
        return len(self.time_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracking:
    """A site with all its boxes. `notes` say what a reader had to assume."""

    id: str
    kind: Kind
    body: BodyKind
    cameras: tuple[TrackedCamera, ...]
    targets: tuple[str, ...]
    boxes: Boxes
    frame: Frame
    scene: Scene | None = None
    notes: tuple[str, ...] = ()


def boxes_of(
    parts: Sequence[tuple[int, Array, Array]], targets: Sequence[Sequence[str]]
) -> tuple[Boxes, tuple[str, ...]]:
    """Join the boxes of several cameras into one table.

    Of each camera: its index, its times (n), and its rows (n × 5: frame, left, top, width, height); and
    whom each row shows. Also gives the names of the targets, in order.
    """
    names = {name: None for rows in targets for name in rows}
    numbers = {name: number for number, name in enumerate(names)}
    rows = np.concatenate([part[2].reshape(-1, 5) for part in parts]) if parts else np.empty((0, 5))
    return Boxes(
        camera=np.concatenate([np.full(len(times_s), index, dtype=np.intp) for index, times_s, _ in parts])
        if parts
        else np.empty(0, np.intp),
        target=np.array([numbers[name] for part in targets for name in part], dtype=np.intp),
        frame=rows[:, 0].astype(np.int64),
        time_s=np.concatenate([times_s for _, times_s, _ in parts]) if parts else np.empty(0),
        ltwh=rows[:, 1:],
    ), tuple(names)


def number_at(text: str, *, file: Path, line: int, field: str, low: float = -1e7, high: float = 1e9) -> float:
    """A finite number in a file.

    Raises:
        DataError: it is none, or out of bounds; file, line and field are named.
    """
    try:
        number = float(text)
    except ValueError:
        raise DataError(f"{file.name}, line {line}: {text.strip()!r} is not a number", field=field) from None
    if not math.isfinite(number) or not low <= number <= high:
        raise DataError(
            f"{file.name}, line {line}: {text.strip()} is not between {low:g} and {high:g}", field=field
        )
    return number


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        DataError: it is absent, too large, or no UTF-8 text.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path} is larger than {MAX_BYTES:,} bytes")
        return read_regular(path).decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is no text in UTF-8") from None


def scene_at(path: Path) -> Scene:
    """The scene in a file.

    Raises:
        DataError: the file is no scene.
    """
    try:
        return read_scene(path)
    except (SceneError, OSError) as error:
        raise DataError(f"{path} is no scene: {error}", field="scene") from None


def read_tracking(folder: Path) -> Tracking:
    """Read the neutral form: `site.yaml` beside `tracks.csv` or `tracks.parquet`.

    Raises:
        DataError: a file is absent or wrong; the message names file, line and field.
    """
    path = folder / SITE_FILE
    try:
        site = Site.model_validate(yaml.safe_load(text_of(path)))
    except yaml.YAMLError as error:
        raise DataError(f"{SITE_FILE} is no YAML: {str(error).splitlines()[0]}") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise DataError(f"{SITE_FILE}: {fault['msg'].removeprefix('Value error, ')}", field=where) from None
    scene = scene_at(folder / site.scene) if site.scene else None
    tracks = next((folder / name for name in TRACKS if (folder / name).is_file()), None)
    if tracks is None:
        raise DataError(f"{folder} holds neither {' nor '.join(TRACKS)}")
    places = {name: number for number, name in enumerate(site.cameras)}
    reading = _csv_rows(tracks) if tracks.suffix == ".csv" else _parquet_rows(tracks)
    cameras, times_s, rows, targets = [], [], [], []
    for line, fields in reading:
        camera = fields["camera"].strip()
        if camera not in places:
            raise DataError(
                f"{tracks.name}, line {line}: no camera {camera!r} in {SITE_FILE}", field="camera"
            )
        if not fields["target"].strip():
            raise DataError(f"{tracks.name}, line {line}: empty", field="target")
        at = {name: number_at(fields[name], file=tracks, line=line, field=name) for name in COLUMNS[2:]}
        for name, least in (("time_s", 0.0), ("width", 1e-9), ("height", 1e-9)):
            if at[name] < least:
                raise DataError(f"{tracks.name}, line {line}: {at[name]:g} is too small", field=name)
        count = fields.get("frame")
        number = (
            number_at(count, file=tracks, line=line, field="frame", low=0)
            if count is not None
            else round(at["time_s"] * FRAMES_PER_S)
        )
        cameras.append(places[camera])
        targets.append(fields["target"].strip())
        times_s.append(at["time_s"])
        rows.append((number, at["left"], at["top"], at["width"], at["height"]))
    table, names = boxes_of([(0, np.array(times_s, dtype=float), np.array(rows, dtype=float))], [targets])
    boxes = Boxes(
        camera=np.array(cameras, dtype=np.intp),
        target=table.target,
        frame=table.frame,
        time_s=table.time_s,
        ltwh=table.ltwh,
    )
    frame = (
        scene.frame
        if scene
        else Frame(lon_deg=site.frame.lon_deg, lat_deg=site.frame.lat_deg, anchored=True)
        if site.frame
        else Frame()
    )
    return Tracking(
        id=site.id,
        kind=site.kind,
        body=site.targets or ("vehicle" if site.kind == "outdoor" else "pedestrian"),
        cameras=tuple(_camera(name, camera, folder) for name, camera in site.cameras.items()),
        targets=names,
        boxes=boxes,
        frame=frame,
        scene=scene,
    )


def _camera(name: str, camera: SiteCamera, folder: Path) -> TrackedCamera:
    return TrackedCamera(
        id=name,
        floor=camera.floor,
        homography=None if camera.homography is None else np.array(camera.homography, dtype=float),
        points=None if camera.points is None else np.array(camera.points, dtype=float).reshape(-1, 4),
        image_size=camera.image_size,
        xy_m=camera.xy_m,
        clip=folder / camera.clip if camera.clip else None,
    )


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    reader = csv.DictReader(io.StringIO(text_of(path)), strict=True)
    _refuse_missing(path, reader.fieldnames or ())
    try:
        for fields in reader:
            short = next((name for name, value in fields.items() if value is None), None)
            if short is not None or None in fields:
                raise DataError(
                    f"{path.name}, line {reader.line_num}: not as many fields as the first line has",
                    field=short or "",
                )
            yield reader.line_num, fields
    except csv.Error as error:
        raise DataError(f"{path.name}, line {reader.line_num}: {error}") from None


def _parquet_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path.name} is no Parquet: {str(error).splitlines()[0]}") from None
    _refuse_missing(path, table.column_names)
    names = [name for name in (*COLUMNS, "frame") if name in table.column_names]
    columns = [table.column(name).to_pylist() for name in names]
    for number, values in enumerate(zip(*columns, strict=True), start=1):
        yield (
            number,
            {name: "" if value is None else str(value) for name, value in zip(names, values, strict=True)},
        )


def _refuse_missing(path: Path, names: Sequence[str]) -> None:
    for name in COLUMNS:
        if name not in names:
            raise DataError(f"{path.name} has no column {name}; it needs {', '.join(COLUMNS)}", field=name)
