"""PerToolset: what follows from the tools of a call, worked out once."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from gnomon.core.message import ToolSchema

Made = TypeVar("Made")
KEPT = 64


class PerToolset(Generic[Made]):
    """A function of tool schemas, called once a toolset: a tool's schema is one object for a whole process.

    The schemas are kept beside what was made of them, so that no other object comes to have their identity.

    >>> size = PerToolset(lambda tools: len(str(tools)))
    >>> size([]), size([])
    (2, 2)
    """

    def __init__(self, make: Callable[[Sequence[ToolSchema]], Made]) -> None:
        self._make = make
        self._kept: dict[tuple[int, ...], tuple[list[ToolSchema], Made]] = {}

    def __call__(self, tools: Sequence[ToolSchema]) -> Made:
        """What is made of these schemas, in this order."""
        ids = tuple(map(id, tools))
        found = self._kept.get(ids)
        if found is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            found = self._kept[ids] = (list(tools), self._make(tools))
        return found[1]
