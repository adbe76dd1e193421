"""Reads files of scanned rooms, names their boxes, and says what is wrong with them."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from shapely.geometry.base import BaseGeometry

from gnomon.core.errors import DataError
from gnomon.core.sample import DataFault
from gnomon_tools.core.regular_file import open_regular
from gnomon_tools.geometry.oriented_boxes import BoxArray, distances_m, footprint
from gnomon_tools.scene.boxes import HEADER, XYZ, Box
from gnomon_tools.scene.document import orthonormal

ENDINGS = (".json", ".json.gz")
MAX_BYTES = 200_000_000  # of a file that is unpacked
MAX_BOXES = 2_000  # of a room
SHOWN = 120  # characters of a fault


def _turned(axes: list[float]) -> list[float]:
    orthonormal([axes[at : at + 3] for at in (0, 3, 6)])
    return axes


Metres = Annotated[float, Field(ge=-1e5, le=1e5)]
Cosine = Annotated[float, Field(ge=-1.01, le=1.01)]
Edge = Annotated[float, Field(gt=0, le=1e4)]
Kind = Annotated[str, Field(min_length=1, max_length=60, pattern=r'^[^"\x00-\x1f]*[^"\s]$')]


class _Written(BaseModel):
    """What a file holds; fields that are not read may be there."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _WrittenBox(_Written):
    category: Kind
    centroid: Annotated[list[Metres], Field(min_length=3, max_length=3)]
    lengths: Annotated[list[Edge], Field(min_length=3, max_length=3)]
    axes: Annotated[list[Cosine], Field(min_length=9, max_length=9), AfterValidator(_turned)]


class _WrittenRoom(_Written):
    id: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\s\x00-\x1f]+$")]
    room_size: Annotated[float, Field(gt=0, le=1e6)]
    object_counts: dict[Kind, Annotated[int, Field(ge=0)]]
    boxes: Annotated[list[_WrittenBox], Field(min_length=1, max_length=MAX_BOXES)]


class _WrittenFile(_Written):
    source: Annotated[str, Field(min_length=1, max_length=60)]
    up: Literal["z"]
    unit: Literal["m"]
    rooms: list[Any]


@dataclass(frozen=True, kw_only=True)
class Room:
    """A room: `boxes` in the file's order, doubled ones left out, each under a name of its own.

    The only box of a kind has the kind's name, the others a number behind it.
    """

    id: str
    source: str
    floor_m2: float
    counts: dict[str, int]
    boxes: tuple[Box, ...]

    @cached_property
    def kinds(self) -> dict[str, list[int]]:
        """The boxes of each kind, by their places."""
        kinds: dict[str, list[int]] = {}
        for at, box in enumerate(self.boxes):
            kinds.setdefault(box.kind, []).append(at)
        return kinds

    @cached_property
    def unique(self) -> list[int]:
        """The boxes that are the only one of their kind and are counted once."""
        return [these[0] for kind, these in self.kinds.items() if len(these) == self.counts.get(kind) == 1]

    @cached_property
    def array(self) -> BoxArray:
        """The boxes as arrays."""
        return BoxArray.of(self.boxes)

    @cached_property
    def footprints(self) -> list[BaseGeometry]:
        """The boxes seen from above."""
        return [footprint(box) for box in self.boxes]

    @cached_property
    def in_words(self) -> str:
        """All boxes, one a line. The floor's area is not said: no arm can look it up."""
        return "\n".join((f"{HEADER}:", *(box.in_words() for box in self.boxes)))

    @cached_property
    def _distances_m(self) -> dict[int, NDArray[np.float64]]:
        return {}

    def distances_m(self, at: int) -> NDArray[np.float64]:
        """From one box to each, between closest points; worked out once."""
        if at not in self._distances_m:
            same = self.array.take(np.full(len(self.boxes), at))
            self._distances_m[at] = distances_m(same, self.array)
        return self._distances_m[at]

    def is_nested(self, kind: str) -> bool:
        """Whether the centre of a box of the kind lies in another of it, so that their number is doubtful."""
        these = np.array(self.kinds.get(kind, []), dtype=np.int64)
        boxes = self.array.take(these)
        offsets = boxes.centres_m[None] - boxes.centres_m[:, None]
        inside = (np.abs(np.einsum("abj,aij->abi", offsets, boxes.axes)) <= boxes.halves_m[:, None]).all(
            axis=2
        )
        return bool(inside.sum() > len(these))


def find_files(data: Path) -> list[Path]:
    """The files of rooms in a folder, or the one that is named.

    Raises:
        DataError: there is none.
    """
    if data.is_file():
        return [data]
    try:
        files = sorted(path for path in data.iterdir() if path.name.endswith(ENDINGS) and path.is_file())
    except OSError as error:
        raise DataError(f"{data} cannot be read: {error.strerror}", field="data") from None
    if not files:
        message = f"{data} holds no rooms; expected files that end in {' or '.join(ENDINGS)}"
        raise DataError(message, field="data")
    return files


def read_rooms(files: Sequence[Path]) -> tuple[list[Room], list[DataFault]]:
    """Every room that can be asked about, in order, and what is wrong with rooms.

    Raises:
        DataError: a file is no file of rooms, or none of its rooms can be read.
    """
    rooms: dict[str, Room] = {}
    faults: list[DataFault] = []
    for file in files:
        written = _file(file)
        before = len(rooms)
        for at, value in enumerate(written.rooms):
            try:
                room = _WrittenRoom.model_validate(value)
            except ValidationError as error:
                faults.append(DataFault(sample_id=_id_of(value, at), kind="malformed", detail=_first(error)))
                continue
            if room.id in rooms:
                detail = f"{file.name}: repeats the id; the first one counts"
                faults.append(DataFault(sample_id=room.id, kind="duplicate", detail=detail))
                continue
            rooms[room.id] = _room(room, written.source, faults)
        if len(rooms) == before:
            why = next((f": {fault.sample_id}: {fault.detail}" for fault in faults), "")
            raise DataError(f"{file.name} holds no room that can be read{why}", field="data")
    return list(rooms.values()), faults


def _file(file: Path) -> _WrittenFile:
    try:
        with open_regular(file) as stream:
            is_packed = file.name.endswith(".gz")
            with gzip.GzipFile(fileobj=stream) if is_packed else nullcontext(stream) as content:
                text = content.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise DataError(f"{file.name} is larger than {MAX_BYTES:,} bytes", field="data")
        return _WrittenFile.model_validate(json.loads(text))
    except ValidationError as error:
        message = f"{file.name} is no file of rooms (source, up, unit, rooms): {_first(error)}"
        raise DataError(message, field="data") from None
    except (OSError, ValueError, EOFError, RecursionError) as error:
        raise DataError(f"{file.name} cannot be read: {error}"[:500], field="data") from None


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, fault["loc"])) or "room"
    return f"{where}: {fault['msg'].removeprefix('Value error, ')}"[:SHOWN]


def _id_of(value: Any, at: int) -> str:
    name = value.get("id") if isinstance(value, dict) else None
    text = name if isinstance(name, str) and name else f"room {at}"
    return text[:SHOWN].encode(errors="backslashreplace").decode().replace("\0", "?")


def _room(written: _WrittenRoom, source: str, faults: list[DataFault]) -> Room:
    """A room, and what is doubtful about it as faults."""
    kept = list({box.model_dump_json(): box for box in written.boxes}.values())
    names = list(_names([box.category for box in kept]))
    room = Room(
        id=written.id,
        source=source,
        floor_m2=written.room_size,
        counts=written.object_counts,
        boxes=tuple(_box(box, name) for box, name in zip(kept, names, strict=True)),
    )
    found = {kind: len(these) for kind, these in room.kinds.items()}
    differ = sorted(
        kind for kind in found.keys() | room.counts.keys() if found.get(kind, 0) != room.counts.get(kind, 0)
    )
    nested = [kind for kind in found if room.is_nested(kind)]
    dropped = len(written.boxes) - len(kept)
    for kind, detail in (
        ("doubled", f"{dropped} left out" if dropped else ""),
        ("counts_differ", ", ".join(differ)),
        ("nested", ", ".join(nested)),
    ):
        if detail:
            faults.append(DataFault(sample_id=room.id, kind=kind, detail=detail[:SHOWN]))
    return room


def _names(kinds: Sequence[str]) -> Iterator[str]:
    """A name for each box: its kind, with a number where several are of it.

    >>> list(_names(["bed", "chair", "chair", "chair 2"]))
    ['bed', 'chair 1', 'chair 2', 'chair 2 1']
    """
    totals, seen, taken = Counter(kinds), Counter[str](), set[str]()
    for kind in kinds:
        seen[kind] += 1
        name = kind if totals[kind] == 1 and kind not in taken else f"{kind} {seen[kind]}"
        while name in taken:
            name = f"{name}'"
        taken.add(name)
        yield name


def _box(written: _WrittenBox, name: str) -> Box:
    return Box(
        name=name,
        kind=written.category,
        centre_m=_triple(written.centroid),
        lengths_m=_triple(written.lengths),
        axes=(_triple(written.axes[:3]), _triple(written.axes[3:6]), _triple(written.axes[6:])),
    )


def _triple(values: Sequence[float]) -> XYZ:
    x, y, z = values
    return x, y, z
