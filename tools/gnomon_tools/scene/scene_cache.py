"""Caches what is derived from a scene for as long as the scene is in use."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from gnomon_tools.scene.scene import Scene

T = TypeVar("T")


def cached_per_scene(derive: Callable[[Scene], T]) -> Callable[[Scene], T]:
    """Call `derive` once a scene object and forget the answer together with the scene.

    The answer must not hold the scene itself, or neither is ever freed. Two threads that ask at the same
    time may both derive; both answers are right.
    """
    cache: WeakKeyDictionary[Scene, T] = WeakKeyDictionary()

    @wraps(derive)
    def remembered(scene: Scene) -> T:
        try:
            return cache[scene]
        except KeyError:
            return cache.setdefault(scene, derive(scene))

    return remembered
