"""A small made-up room, as files of scanned rooms hold them."""

import json
from pathlib import Path
from typing import Any

LEVEL = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
TURNED = [0.8, 0.6, 0.0, -0.6, 0.8, 0.0, 0.0, 0.0, 1.0]
LEANING = [0.8, 0.0, 0.6, 0.0, 1.0, 0.0, -0.6, 0.0, 0.8]


def box(
    kind: str, centre: tuple[float, ...], lengths: tuple[float, ...], axes: list[float]
) -> dict[str, Any]:
    return {"category": kind, "centroid": list(centre), "lengths": list(lengths), "axes": axes}


BOXES = [
    box("bed", (0.0, 0.0, 0.3), (2.0, 1.6, 0.6), LEVEL),
    box("door", (3.5, 0.2, 1.0), (0.1, 0.9, 2.0), LEVEL),
    box("lamp", (-0.2, 2.6, 1.2), (0.3, 0.3, 1.0), TURNED),
    box("desk", (3.0, 3.0, 0.4), (1.4, 0.7, 0.75), TURNED),
    box("shelf", (-2.6, 0.4, 0.9), (0.4, 1.2, 1.8), TURNED),
    box("plant", (-2.3, -1.3, 0.5), (0.4, 0.4, 1.0), LEANING),
    box("chair", (2.4, 2.1, 0.45), (0.5, 0.5, 0.9), TURNED),
    box("chair", (1.9, -2.4, 0.45), (0.5, 0.5, 0.9), LEANING),
    box("chair", (-1.2, -2.3, 0.45), (0.5, 0.5, 0.9), LEVEL),
    box("chair", (-0.9, 1.9, 0.45), (0.5, 0.5, 0.9), LEVEL),
    box("chair", (0.8, -1.7, 0.45), (0.5, 0.5, 0.9), TURNED),
    box("printer", (3.2, 3.1, 0.9), (0.4, 0.3, 0.2), TURNED),
    box("printer", (3.2, 3.1, 0.9), (0.4, 0.3, 0.2), TURNED),  # doubled
]
COUNTS = {"bed": 1, "door": 1, "lamp": 1, "desk": 1, "shelf": 1, "plant": 1, "chair": 5, "printer": 1}


def room(name: str = "room_a", **changed: Any) -> dict[str, Any]:
    return {"id": name, "room_size": 31.5, "object_counts": COUNTS, "boxes": BOXES, **changed}


def written(folder: Path, *rooms: Any, name: str = "made-up.json", **changed: Any) -> Path:
    document = {"source": "made up", "up": "z", "unit": "m", "rooms": list(rooms) or [room()], **changed}
    (folder / name).write_text(json.dumps(document))
    return folder
