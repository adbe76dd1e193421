"""Finds the files of the published folder and the paths inside them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path, PurePosixPath

from gnomon.core.errors import DataError
from gnomon.core.sample import DataFault
from gnomon_published.benchmarks.gtr_bench.case import SCENES, TASKS, Case, case_from_json
from gnomon_published.unique_rows import unique_rows
from gnomon_tools.core.regular_file import read_regular

_FILE = re.compile(rf"({'|'.join(SCENES)})_({'|'.join(TASKS)})_\d+\.json")


@dataclass(frozen=True, slots=True)
class Layout:
    """The folder that holds `indoor/` and `outdoor/`."""

    folder: Path

    def question_files(self) -> list[tuple[str, Path]]:
        """Scene and path of each question file, in order of scene and name."""
        return [
            (scene, path)
            for scene in SCENES
            for path in sorted((self.folder / scene).glob(f"{scene}_*.json"))
            if _FILE.fullmatch(path.name)
        ]

    def path(self, published: str) -> Path | None:
        """The file of a path such as `./data/indoor/map/x.png`; None if it leads out or is invalid."""
        parts = [part for part in PurePosixPath(published).parts if part != "."]
        try:
            path = self.folder.joinpath(*(parts[1:] if parts[:1] == ["data"] else parts)).resolve()
            path.is_file()
        except (OSError, ValueError):  # too long for a name, or a NUL in it
            return None
        return path if published and path.is_relative_to(self.folder.resolve()) else None

    def map_of(self, case: Case) -> Path | None:
        path = self.path(case.map_image_path)
        return path if path is not None and path.is_file() else None

    def scene_of(self, case: Case) -> Path | None:
        """The scene file named like the case's map; generated folders have it, the published one does not."""
        map_path = self.path(case.map_image_path)
        path = self.folder / case.scene / "scenes" / f"{map_path.stem}.geojson" if map_path else None
        return path if path is not None and path.is_file() else None

    @property
    def homographies(self) -> Path:
        """The file of the indoor cameras' homographies; it may be absent."""
        return self.folder / "indoor" / "homography" / "mtmmc_camera_homography.json"


def find_layout(data: Path) -> Layout:
    """The layout at `data`, which may be the repository or its `data` folder.

    Raises:
        DataError: neither folder holds a question file.
    """
    for folder in (data / "data", data):
        layout = Layout(folder)
        if layout.question_files():
            return layout
    raise DataError(
        f"{data} holds no GTR-Bench questions; expected data/{{outdoor,indoor}}/{{scene}}_{{Task}}_30.json",
        field="data",
    )


def read_cases(layout: Layout) -> tuple[list[Case], list[DataFault]]:
    """Every case that can be used, in the order of the files, and what is wrong with the others."""
    return unique_rows(
        ((name, scene, entry) for scene, path in layout.question_files() for name, entry in _objects(path)),
        lambda row: case_from_json(row[2], row[1]),
        name_of=lambda _, row: row[0],
        repeats="a case_id",
        id_of=attrgetter("case_id"),
        place_of=lambda _, row: row[0],
    )


def _objects(path: Path) -> Iterator[tuple[str, object]]:
    """The entries of a file, each with a name for its faults; a file of another form is one bad entry."""
    try:
        document = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        document = None
    entries = document.get("cases") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        yield path.name, None
        return
    for index, entry in enumerate(entries):
        case_id = entry.get("case_id") if isinstance(entry, dict) else None
        yield case_id if isinstance(case_id, str) and case_id else f"{path.name}[{index}]", entry
