"""Lets a set of samples tell of its questions, its media and its selection before any sample is built."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from gnomon.core.near_equal import Asked


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


@runtime_checkable
class TellsQuestions(Protocol):
    """A sample set that tells cheaply what each of its samples asks, so that near-equal ones count once.

    Example: `asked` of `questions` goes through the rows of the file again.
    """

    def asked(self) -> Iterable[Asked]: ...
