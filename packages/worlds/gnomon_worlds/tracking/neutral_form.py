"""Reads the neutral form of multi-camera tracking: a site and its boxes.

It is described in docs/building-questions.md.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, ValidationError, model_validator
from shapely import Polygon

from gnomon.core.errors import DataError
from gnomon.core.validation import StrictModel
from gnomon_tools.scene.document import SceneError
from gnomon_tools.scene.format import read_scene
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from gnomon_worlds.tracking.tables import csv_rows, refuse_missing, text_of

FORMAT = "gnomon-tracking/1"
SITE_FILE = "site.yaml"
TRACKS = ("tracks.csv", "tracks.parquet")
COLUMNS = ("camera", "target", "time_s", "left", "top", "width", "height")
LONG_AGO_S = 1e8  # seconds that count from so long ago are those since 1970
LATEST_S = 1e11  # since 1970
LONGEST_S = 11 * 3600.0  # of a recording: questions tell times of day, from noon
SINGULAR = 1e-30  # a smaller determinant of a matrix whose largest number is 1 is zero
FRAMES_PER_S = 1000  # where a file has no frame numbers, frames are milliseconds

Array = NDArray[np.float64]
Kind = Literal["outdoor", "indoor"]
BodyKind = Literal["vehicle", "pedestrian"]
BODIES: Mapping[BodyKind, tuple[str, ...]] = {
    "vehicle": ("vehicle", "car", "bus", "truck", "van", "cart", "bicycle", "biker", "cyclist", "motorbike"),
    "pedestrian": ("pedestrian", "person", "people", "skater", "skateboarder"),
}
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
    """`site.yaml`: metres x east, y north; `scene` is a scene file (docs/scenes.md) of roads or rooms.

    `axes` says where x and y of homographies, points and positions lead instead; they are turned to that.
    `targets` is the kind of those whose row names none.
    """

    format: Literal["gnomon-tracking/1"]
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
    kind: Kind
    targets: BodyKind | None = None
    fps: Annotated[float, Field(gt=0, le=1000)] | None = None
    axes: Literal["east-north", "east-south", "west-north"] = "east-north"
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
    pictures. `size_from` says who knows the picture's size. `view`, where there is one, is all of the floor
    that the camera watches (metres).
    """

    id: str
    floor: int = 0
    homography: Array | None = None
    points: Array | None = None
    image_size: tuple[int, int] | None = None
    size_from: str = "told"
    xy_m: tuple[float, float] | None = None
    view: Polygon | None = None
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

    def only(self, rows: NDArray[np.bool_]) -> "Boxes":
        return Boxes(
            camera=self.camera[rows],
            target=self.target[rows],
            frame=self.frame[rows],
            time_s=self.time_s[rows],
            ltwh=self.ltwh[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Track:
    """Where one target was at every moment: positions (n × 2, metres) at rising times (n, s), on a floor."""

    times_s: Array
    xy_m: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracking:
    """A site with all its boxes. `notes` say what a reader had to assume.

    `bodies` are the kinds of the targets, in their order; without it all are `body`. `tracks` say by target
    where it was between sightings too, for data that know it. `sees` says what it is that a camera sees: a
    "box" in its picture, or "feet" in its `view`. `signs` turn x and y of the files east and north.
    """

    id: str
    kind: Kind
    body: BodyKind
    cameras: tuple[TrackedCamera, ...]
    targets: tuple[str, ...]
    boxes: Boxes
    frame: Frame
    scene: Scene | None = None
    notes: tuple[str, ...] = ()
    bodies: tuple[BodyKind, ...] = ()
    tracks: Mapping[str, Track] = field(default_factory=dict)
    sees: Literal["box", "feet"] = "box"
    signs: tuple[int, int] = (1, 1)

    @property
    def scale(self) -> Kind:
        """Whose distances matter here: those of people, as indoors, where there is nobody else."""
        return "indoor" if set(self.bodies or (self.body,)) == {"pedestrian"} else self.kind

    def body_of(self, target: int) -> BodyKind:
        return self.bodies[target] if self.bodies else self.body


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


def instant_s(text: str, *, file: Path, line: int, field: str) -> float:
    """A moment in seconds: a number, or a date and time of ISO 8601 (in UTC where it says no zone).

    Raises:
        DataError: it is neither.
    """
    try:
        is_date = ":" in text or re.match(r"\s*\d{4}-", text)
        moment = datetime.fromisoformat(text.strip()) if is_date else None
    except ValueError:
        raise DataError(
            f"{file.name}, line {line}: {text.strip()!r} is no time; one is written 2026-01-26T15:57:02Z",
            field=field,
        ) from None
    if moment is None:
        time_s = number_at(text, file=file, line=line, field=field, high=1e15)
        if time_s > LATEST_S:
            raise DataError(
                f"{file.name}, line {line}: {text.strip()} s is no time: are these milliseconds?", field=field
            )
        if time_s < 0:
            raise DataError(f"{file.name}, line {line}: {time_s:g} is too small", field=field)
        return time_s
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def from_the_first(times_s: Array) -> tuple[Array, tuple[str, ...]]:
    """Times too late for a day's questions counted from the first whole second, and a note that says so.

    >>> from_the_first(np.array([50_000.5, 50_002.0]))
    (array([0.5, 2. ]), ('times count from 50,000 s',))
    """
    if not len(times_s) or times_s.max() <= LONGEST_S or times_s.min() < 1:
        return times_s, ()
    first_s = math.floor(times_s.min())
    began = datetime.fromtimestamp(first_s, UTC).isoformat().replace("+00:00", "Z")
    return times_s - first_s, (f"times count from {began if first_s >= LONG_AGO_S else f'{first_s:,} s'}",)


def site_id(name: str, otherwise: str) -> str:
    """The id of a site whose folder has a name.

    >>> site_id("Zürich_2", "site"), site_id("市", "site")
    ('Z-rich-2', 'site')
    """
    return re.sub(r"[^A-Za-z0-9]", "-", name).strip("-")[:64] or otherwise


def note_kind(kinds: dict[str, BodyKind], target: str, kind: str, *, file: Path, line: int) -> None:
    """Note the kind of body that a word such as car or person tells of a target.

    Raises:
        DataError: the word means none, or the target was another kind before.
    """
    body = next((body for body, words in BODIES.items() if kind.strip().lower() in words), None)
    if body is None:
        allowed = ", ".join(word for words in BODIES.values() for word in words)
        raise DataError(f"{file.name}, line {line}: {kind.strip()!r} is none of: {allowed}", field="kind")
    if kinds.setdefault(target, body) != body:
        raise DataError(f"{file.name}, line {line}: {target} was another kind before", field="kind")


def scene_at(path: Path) -> Scene:
    """The scene in a file.

    Raises:
        DataError: the file is no scene.
    """
    try:
        return read_scene(path)
    except (SceneError, OSError) as error:
        raise DataError(f"{path} is no scene: {error}", field="scene") from None


def read_site(path: Path) -> Site:
    """The site of a `site.yaml`.

    Raises:
        DataError: the file is absent or wrong; the field is named.
    """
    try:
        return Site.model_validate(yaml.safe_load(text_of(path)))
    except yaml.YAMLError as error:
        raise DataError(f"{SITE_FILE} is no YAML: {str(error).splitlines()[0]}") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise DataError(f"{SITE_FILE}: {fault['msg'].removeprefix('Value error, ')}", field=where) from None


def default_body(site: Site) -> BodyKind:
    """The kind of targets of which nothing is said."""
    return site.targets or ("vehicle" if site.kind == "outdoor" else "pedestrian")


def read_tracking(folder: Path) -> Tracking:
    """Read the neutral form: `site.yaml` beside `tracks.csv` or `tracks.parquet`.

    Raises:
        DataError: a file is absent or wrong; the message names file, line and field.
    """
    site = read_site(folder / SITE_FILE)
    tracks = next((folder / name for name in TRACKS if (folder / name).is_file()), None)
    if tracks is None:
        raise DataError(f"{folder} holds neither {' nor '.join(TRACKS)}")
    places = {name: number for number, name in enumerate(site.cameras)}
    reading = csv_rows(tracks, COLUMNS) if tracks.suffix == ".csv" else _parquet_rows(tracks)
    cameras, times_s, rows, targets = [], [], [], []
    kinds: dict[str, BodyKind] = {}
    default = default_body(site)
    for line, fields in reading:
        camera = fields["camera"].strip()
        if camera not in places:
            raise DataError(
                f"{tracks.name}, line {line}: no camera {camera!r} in {SITE_FILE}", field="camera"
            )
        target = fields["target"].strip()
        if not target:
            raise DataError(f"{tracks.name}, line {line}: empty", field="target")
        kind = (fields.get("kind") or "").strip()
        note_kind(kinds, target, kind or default, file=tracks, line=line)
        at = {name: number_at(fields[name], file=tracks, line=line, field=name) for name in COLUMNS[3:]}
        for name in ("width", "height"):
            if at[name] < 1e-9:
                raise DataError(f"{tracks.name}, line {line}: {at[name]:g} is too small", field=name)
        time_s, number = _moment(fields, site.fps, file=tracks, line=line)
        cameras.append(places[camera])
        targets.append(target)
        times_s.append(time_s)
        rows.append((number, at["left"], at["top"], at["width"], at["height"]))
    counted_s, notes = from_the_first(np.array(times_s, dtype=float))
    table, names = boxes_of([(0, counted_s, np.array(rows, dtype=float))], [targets])
    return tracking_of(
        site, folder, replace(table, camera=np.array(cameras, dtype=np.intp)), names, notes=notes,
        bodies=tuple(kinds[name] for name in names),
    )  # fmt: skip


def _moment(fields: Mapping[str, str], fps: float | None, *, file: Path, line: int) -> tuple[float, float]:
    """The time of a row in seconds, and its frame."""
    count = fields.get("frame")
    number = None if count is None else number_at(count, file=file, line=line, field="frame", low=0)
    for name in ("time_s", "time"):
        if name in fields:
            time_s = instant_s(fields[name], file=file, line=line, field=name)
            return time_s, round(time_s * FRAMES_PER_S) if number is None else number
    if fps is None or number is None:
        raise DataError(
            f"{file.name} has no column time_s or time: frames alone need `fps` in {SITE_FILE}",
            field="time_s",
        )
    return number / fps, number


def tracking_of(
    site: Site,
    folder: Path,
    boxes: Boxes,
    names: tuple[str, ...],
    *,
    notes: tuple[str, ...] = (),
    bodies: tuple[BodyKind, ...] = (),
) -> Tracking:
    """A site with boxes of its cameras.

    Raises:
        DataError: its scene cannot be read.
    """
    scene = scene_at(folder / site.scene) if site.scene else None
    given = (
        Frame(lon_deg=site.frame.lon_deg, lat_deg=site.frame.lat_deg, anchored=True) if site.frame else None
    )
    signs = {"east-north": (1, 1), "east-south": (1, -1), "west-north": (-1, 1)}[site.axes]
    return Tracking(
        id=site.id,
        kind=site.kind,
        body=bodies[0] if len(set(bodies)) == 1 else default_body(site),
        cameras=tuple(_camera(name, camera, folder, signs) for name, camera in site.cameras.items()),
        targets=names,
        boxes=boxes,
        frame=scene.frame if scene else given or Frame(),
        scene=scene,
        notes=notes,
        bodies=bodies if len(set(bodies)) > 1 else (),
        signs=signs,
    )


def _camera(name: str, camera: SiteCamera, folder: Path, signs: tuple[int, int]) -> TrackedCamera:
    """The camera, with its metres east and north."""
    points = None if camera.points is None else np.array(camera.points, dtype=float).reshape(-1, 4)
    return TrackedCamera(
        id=name,
        floor=camera.floor,
        homography=None
        if camera.homography is None
        else np.diag([*signs, 1]) @ np.array(camera.homography, dtype=float),
        points=None if points is None else points * [1, 1, *signs],
        image_size=camera.image_size,
        xy_m=None if camera.xy_m is None else (signs[0] * camera.xy_m[0], signs[1] * camera.xy_m[1]),
        clip=folder / camera.clip if camera.clip else None,
    )


def _parquet_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path.name} is no Parquet: {str(error).splitlines()[0]}") from None
    refuse_missing(path, table.column_names, COLUMNS)
    names = [name for name in (*COLUMNS, "time", "frame", "kind") if name in table.column_names]
    columns = [table.column(name).to_pylist() for name in names]
    for number, values in enumerate(zip(*columns, strict=True), start=1):
        yield (
            number,
            {name: "" if value is None else str(value) for name, value in zip(names, values, strict=True)},
        )
