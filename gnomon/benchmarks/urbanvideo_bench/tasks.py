"""Tasks: the sixteen of the paper, in its order; a cell is a task."""

import re

TASKS: tuple[str, ...] = (
    "Trajectory Captioning",
    "Sequence Recall",
    "Object Recall",
    "Scene Recall",
    "Start/End Position",
    "Proximity",
    "Duration",
    "Landmark Position",
    "Goal Detection",
    "Cognitive Map",
    "Causal",
    "Counterfactual",
    "Association",
    "Progress Evaluation",
    "High-level Planning",
    "Action Generation",
)


def _key(label: str) -> str:
    return re.sub(r"[^a-z0-9]", "", label.lower())


_BY_KEY = {_key(task): task for task in TASKS}


def task_of(label: str) -> str | None:
    """The task of a published label, whatever its case, spaces and dashes; None if it is none of them.

    >>> task_of("high-level planning "), task_of("Cooking")
    ('High-level Planning', None)
    """
    return _BY_KEY.get(_key(label))
