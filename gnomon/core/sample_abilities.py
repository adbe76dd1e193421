"""Lets a set of samples tell of absent media, and of what was not selected, before any sample is built."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class KnowsMedia(Protocol):
    """A sample set that knows before any sample is built how many could not be asked under an arm that shows
    media, as theirs are absent, and where these were sought, in words.
    """

    @property
    def unshowable(self) -> int: ...

    @property
    def sought(self) -> str: ...


@runtime_checkable
class WarnsOfSelection(Protocol):
    """References to selected samples that say in words what was asked for and is not among them."""

    @property
    def warnings(self) -> Sequence[str]: ...
