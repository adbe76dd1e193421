"""Tasks and scenes: the eight and the three of the paper; a cell is a task."""

import re

TASKS: tuple[str, ...] = (
    "Dimensional Measurement",
    "Spatial Relation",
    "3D Video Grounding",
    "Displacement & Path Length",
    "Speed & Acceleration",
    "Ego-Centric Orientation",
    "Trajectory Description",
    "Pose Estimation",
)
SCENES: tuple[str, ...] = ("outdoor", "indoor", "desktop", "unknown")


def _key(label: str) -> str:
    return re.sub(r"[^a-z0-9]|\band\b", "", label.lower().replace("_", " "))


_BY_KEY = {_key(task): task for task in TASKS}


def task_of(label: str) -> str:
    """The paper's name of a published label, whatever its case, spaces and dashes; else the label itself.

    >>> task_of("displacement_and_path_length"), task_of("Cooking")
    ('Displacement & Path Length', 'Cooking')
    """
    return _BY_KEY.get(_key(label), label)


def scene_of(clip: str) -> str:
    """The kind of place, read off a clip's name by the released rules, in their order.

    >>> [scene_of(name) for name in ("scene_camera.mp4", "scene0011.mp4", "000123.x.mp4", "12345.mp4")]
    ['outdoor', 'indoor', 'desktop', 'unknown']
    """
    if "camera" in clip:
        return "outdoor"
    if clip.startswith("scene"):
        return "indoor"
    stem = clip.split(".")[0]
    return "desktop" if len(stem) == 6 and stem.isdigit() else "unknown"
