"""Reads WILDTRACK's layout: people's boxes frame by frame as JSON, and calibrations of OpenCV."""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter, ValidationError

from gnomon.core.errors import DataError
from gnomon_tools.scene.frame import Frame
from gnomon_worlds.tracking.neutral_form import Array, Lens, TrackedCamera, Tracking, boxes_of, scene_at
from gnomon_worlds.tracking.pictures import size_of_clip
from gnomon_worlds.tracking.tables import text_of

ANNOTATIONS = "annotations_positions"
FILES_PER_S = 10.0  # of the numbers in their names, of which every fifth is there
CM = 0.01
INTRINSICS = ("intrinsic_zero", "intrinsic_original", "intrinsic")
SIZE = (1920, 1080)  # of WILDTRACK's pictures and MultiviewX's, where none is there to tell
ASSUMED = "WILDTRACK's"  # what such a size is from
BESIDE = 1 / 3  # of a camera's boxes that may lie outside its picture; more disprove its size


class View(BaseModel):
    """A person's box in a camera, numbered from 0; -1 everywhere where it is out of the picture."""

    viewNum: int  # noqa: N815 (the data set's own name)
    xmin: float
    xmax: float
    ymin: float
    ymax: float


class Person(BaseModel):
    """A person in all views."""

    personID: int  # noqa: N815 (the same)
    views: list[View]


PEOPLE = TypeAdapter(list[Person])


def read_wildtrack(folder: Path, *, fps: float | None = None, scene: Path | None = None) -> Tracking:
    """Read `annotations_positions/00000000.json` … and `calibrations/{intrinsic_zero, extrinsic}/*.xml`.

    `fps` is how many numbers of file names make a second; `Image_subsets/C1` tells the picture's size. Boxes
    are those of people on the floor, also where the picture has ended: one with its middle outside is none.

    Raises:
        DataError: a file is absent or wrong; the message names it and the field.
    """
    homes = [path for path in (folder, *sorted(folder.glob("*"))) if (path / ANNOTATIONS).is_dir()]
    if not homes:
        raise DataError(f"{folder} holds no folder {ANNOTATIONS}", field="--from")
    home = homes[0]
    cameras = _cameras(home)
    rows: list[list[list[float]]] = [[] for _ in cameras]
    targets: list[list[str]] = [[] for _ in cameras]
    for path in sorted((home / ANNOTATIONS).glob("*.json")):
        if not path.stem.isdigit():
            raise DataError(f"{ANNOTATIONS}/{path.name}: the name is no frame", field="frame")
        try:
            people = PEOPLE.validate_json(text_of(path))
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"]))
            raise DataError(f"{ANNOTATIONS}/{path.name}: {fault['msg']}", field=where) from None
        for person in people:
            for view in person.views:
                if view.xmin == view.ymin == view.xmax == view.ymax == -1:
                    continue
                if not 0 <= view.viewNum < len(cameras) or view.xmax <= view.xmin or view.ymax <= view.ymin:
                    raise DataError(
                        f"{ANNOTATIONS}/{path.name}: no box of {person.personID} in view {view.viewNum}",
                        field="views",
                    )
                size = (view.xmax - view.xmin, view.ymax - view.ymin)
                rows[view.viewNum].append([float(path.stem), view.xmin, view.ymin, *size])
                targets[view.viewNum].append(str(person.personID))
    parts, left_out = [], 0
    for index, (camera, own) in enumerate(zip(cameras, rows, strict=True)):
        table = np.array(own, dtype=float).reshape(-1, 5)
        within = _in_picture(table, camera.image_size or SIZE)
        left_out += int((~within).sum())
        targets[index] = [name for name, is_within in zip(targets[index], within, strict=True) if is_within]
        parts.append((index, table[within, 0] / (fps or FILES_PER_S), table[within]))
    notes = []
    if left_out:
        of = sum(map(len, rows))
        notes.append(f"{left_out:,} of {of:,} boxes have their middle outside the picture: left out")
    unsized = [camera.id for camera in cameras if camera.size_from == ASSUMED]
    if unsized:
        is_there = (home / "Image_subsets").is_dir()
        lacking = f"Image_subsets has none of {', '.join(unsized)}" if is_there else "no Image_subsets"
        notes.append(f"{lacking}: pictures are taken to be {SIZE[0]} × {SIZE[1]}, as WILDTRACK's are")
    boxes, names = boxes_of(parts, targets)
    given = scene_at(scene) if scene else None
    return Tracking(
        id="wildtrack",
        kind="outdoor",
        body="pedestrian",
        cameras=tuple(cameras),
        targets=names,
        boxes=boxes,
        frame=given.frame if given else Frame(),
        scene=given,
        notes=tuple(notes),
    )


def _in_picture(table: Array, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Which boxes have their middle in the picture; all, where too many have not for its size to be right."""
    middle = table[:, 1:3] + table[:, 3:] / 2
    within = ((middle >= 0) & (middle <= size)).all(axis=1)
    return np.asarray(within | ((~within).sum() > BESIDE * len(table)))


def _cameras(home: Path) -> list[TrackedCamera]:
    """The cameras in the order of their names, which is that of the views."""
    places = [home / "calibrations" / name for name in INTRINSICS]
    inner = next((place for place in places if place.is_dir()), None)
    if inner is None:
        raise DataError(
            f"{home.name}/calibrations holds none of: {', '.join(INTRINSICS)}", field="calibrations"
        )
    cameras = []
    for number, path in enumerate(sorted(inner.glob("intr_*.xml")), start=1):
        name = path.stem.removeprefix("intr_")
        intrinsic = _numbers(path, "camera_matrix", 9).reshape(3, 3)
        distortion = _numbers(path, "distortion_coefficients", 4)
        outer = home / "calibrations" / "extrinsic" / f"extr_{name}.xml"
        rotation, shift_m = _rotation(_numbers(outer, "rvec", 3)), _numbers(outer, "tvec", 3) * CM
        to_pixels = intrinsic @ np.column_stack([rotation[:, :2], shift_m])
        if abs(np.linalg.det(to_pixels)) < 1e-12:
            raise DataError(f"extrinsic/{outer.name}: the camera stands in the floor", field="tvec")
        eye_m = -rotation.T @ shift_m
        k1, k2, p1, p2 = distortion[:4].tolist()
        pictures = home / "Image_subsets" / f"C{number}"
        size = size_of_clip(pictures) if pictures.is_dir() else None
        cameras.append(
            TrackedCamera(
                id=name,
                homography=np.asarray(np.linalg.inv(to_pixels)),
                lens=Lens(intrinsic=intrinsic, distortion=(k1, k2, p1, p2)) if distortion.any() else None,
                image_size=size or SIZE,
                size_from=f"read from Image_subsets/C{number}" if size else ASSUMED,
                xy_m=(float(eye_m[0]), float(eye_m[1])),
                clip=pictures if pictures.is_dir() else None,
            )
        )
    if not cameras:
        raise DataError(f"calibrations/{inner.name} holds no intr_*.xml", field="calibrations")
    return cameras


def _numbers(path: Path, name: str, least: int) -> Array:
    """The numbers of an element of OpenCV's XML, whether plain or with rows, columns and data."""
    element = re.search(rf"<{name}\b[^>]*>(.*?)</{name}>", text_of(path), re.DOTALL)
    inner = element[1] if element else ""
    data = re.search(r"<data>(.*?)</data>", inner, re.DOTALL)
    try:
        numbers = np.array([float(word) for word in (data[1] if data else inner).replace(",", " ").split()])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) < least or not np.isfinite(numbers).all():
        raise DataError(f"{path.parent.name}/{path.name}: not {least} numbers", field=name)
    return numbers


def _rotation(vector: Array) -> Array:
    """The rotation about a vector by its length in radians (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)
