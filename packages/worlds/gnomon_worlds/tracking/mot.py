"""Reads MOT text: a file of boxes for each camera, with homographies (docs/building-questions.md)."""

import configparser
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon_worlds.tracking.neutral_form import (
    SITE_FILE,
    Array,
    BodyKind,
    Site,
    SiteCamera,
    Tracking,
    boxes_of,
    default_body,
    number_at,
    read_site,
    site_id,
    tracking_of,
)
from gnomon_worlds.tracking.published_layouts import lines_of_words, read_boxes
from gnomon_worlds.tracking.tables import text_of

BOXES = ("{0}/gt/gt.txt", "{0}/tracks.txt", "{0}.txt", "tracks/{0}.txt")
HOMOGRAPHIES = ("{0}/homography.txt", "{0}_homography.txt", "homographies/{0}.txt")
CLASSED = 9  # fields of a line that names a class, the eighth; with ten they are places in space instead
CLASSES: Mapping[int, BodyKind] = {
    1: "pedestrian",
    2: "vehicle",
    3: "vehicle",
    4: "vehicle",
    5: "vehicle",
    6: "vehicle",
    7: "pedestrian",
}  # of MOT16; the others are reflections and things that hide people


def read_mot(folder: Path, *, fps: float | None = None) -> Tracking:
    """Read `CAMERA/gt/gt.txt` with `CAMERA/homography.txt` and `CAMERA/seqinfo.ini`, or with a `site.yaml`.

    Raises:
        DataError: a file is absent or wrong; the message names file, line and field.
    """
    site = read_site(folder / SITE_FILE) if (folder / SITE_FILE).is_file() else _site_of(folder)
    parts: list[tuple[int, Array, Array]] = []
    targets: list[list[str]] = []
    cameras: dict[str, SiteCamera] = {}
    kinds: dict[str, Counter[BodyKind]] = {}
    left_out = 0
    for name, camera in site.cameras.items():
        path = _first(folder, BOXES, name)
        if path is None:
            raise DataError(
                f"camera {name} has no boxes: there is no {BOXES[0].format(name)}", field="cameras"
            )
        information = _information(folder / name / "seqinfo.ini")
        pictures = f"{name}/img1" if (folder / name / "img1").is_dir() else ""
        clip = camera.clip or pictures
        cameras[name] = camera.model_copy(
            update={
                "image_size": camera.image_size or information.get("size"),
                "homography": camera.homography or _homography(folder, name),
                "clip": clip,
            }
        )
        rate = fps or site.fps or information.get("fps")
        if rate is None:
            raise DataError(
                f"the frames a second of {name} are not said: --fps, `fps` in {SITE_FILE} or seqinfo.ini",
                field="--fps",
            )
        rows, ids = read_boxes(path, first_frame=1)
        shown = _shown(path, ids, kinds)
        left_out += int((~shown).sum())
        first = 0 if (folder / clip).is_file() else 1  # of a video the first; pictures are named as boxes are
        parts.append((len(parts), rows[shown, 0] / rate, rows[shown] + [first, 0, 0, 0, 0]))
        targets.append([identity for identity, is_shown in zip(ids, shown, strict=True) if is_shown])
    boxes, names = boxes_of(parts, targets)
    bodies = tuple(
        kinds[name].most_common(1)[0][0] if name in kinds else default_body(site) for name in names
    )
    notes = ["all cameras are taken to start together"]
    if not (folder / SITE_FILE).is_file():
        notes.append(f"no {SITE_FILE}: taken to be {site.kind}")
    if left_out:
        notes.append(f"{left_out:,} boxes are of no person and no vehicle: left out")
    if mixed := sum(len(counts) > 1 for counts in kinds.values()):
        notes.append(f"{mixed:,} of {len(names):,} identities have several classes: the most frequent counts")
    unsaid = sum(name not in kinds for name in names)
    if unsaid and site.targets is None:
        notes.append(
            f"{unsaid:,} of {len(names):,} identities have no class: taken as {default_body(site)}s, as the"
            f" site is {site.kind}; {SITE_FILE} can say `targets`"
        )
    return tracking_of(
        site.model_copy(update={"cameras": cameras}), folder, boxes, names, notes=tuple(notes), bodies=bodies
    )


def _site_of(folder: Path) -> Site:
    """The site of a folder without a description: whoever has a homography or boxes is a camera."""
    names = sorted(
        {path.parent.name for path in folder.glob("*/homography.txt")}
        | {path.name.removesuffix("_homography.txt") for path in folder.glob("*_homography.txt")}
        | {path.stem for path in folder.glob("homographies/*.txt")}
    )
    if not names:
        raise DataError(
            f"{folder} holds neither {SITE_FILE} nor a CAMERA/homography.txt: pixels to metres, nine numbers",
            field="homography",
        )
    names = sorted({*names, *(path.parents[1].name for path in folder.glob("*/gt/gt.txt"))})
    return Site(
        format="gnomon-tracking/1",
        id=site_id(folder.resolve().name, "site"),
        kind="outdoor",
        cameras={name: SiteCamera() for name in names},
    )


def _first(folder: Path, patterns: tuple[str, ...], name: str) -> Path | None:
    paths = (folder / pattern.format(name) for pattern in patterns)
    return next((path for path in paths if path.is_file()), None)


def _homography(folder: Path, name: str) -> tuple[tuple[float, float, float], ...] | None:
    path = _first(folder, HOMOGRAPHIES, name)
    if path is None:
        return None
    try:
        numbers = np.array([float(word) for word in text_of(path).replace(",", " ").split()])
        matrix = numbers.reshape(3, 3)
        SiteCamera(homography=matrix.tolist())
    except ValueError:
        raise DataError(
            f"{path.relative_to(folder)}: not nine numbers of a matrix that has an inverse",
            field="homography",
        ) from None
    first, second, third = (tuple(row) for row in matrix.tolist())
    return first, second, third


def _information(path: Path) -> dict[str, Any]:
    """Frame rate and picture size of a seqinfo.ini, where there is one.

    Raises:
        DataError: it is none, or a number in it is none.
    """
    if not path.is_file():
        return {}
    parser = configparser.ConfigParser()
    try:
        parser.read_string(text_of(path))
        sequence = parser["Sequence"]
        fps = sequence.getfloat("frameRate", 0.0)
        width, height = sequence.getint("imWidth", 0), sequence.getint("imHeight", 0)
    except (configparser.Error, KeyError, ValueError) as error:
        raise DataError(f"{path.parent.name}/{path.name}: {str(error).splitlines()[0]}") from None
    information: dict[str, Any] = {"fps": fps} if 0 < fps < math.inf else {}
    return information | ({"size": (width, height)} if min(width, height) > 0 else {})


def _shown(path: Path, ids: list[str], kinds: dict[str, Counter[BodyKind]]) -> np.ndarray:
    """Which rows show a person or a vehicle; their kinds are counted by identity."""
    shown = np.ones(len(ids), bool)
    for at, ((number, fields), identity) in enumerate(zip(lines_of_words(path), ids, strict=True)):
        if len(fields) == CLASSED:
            body = CLASSES.get(int(number_at(fields[7], file=path, line=number, field="class")))
            if body is None:
                shown[at] = False
            else:
                kinds.setdefault(identity, Counter())[body] += 1
    return shown
