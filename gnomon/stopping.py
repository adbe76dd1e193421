"""Stopping: long work in a thread asks, now and then, whether anybody still wants it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


class Unwanted(Exception):
    """Nobody waits for the result any more."""


def _always() -> bool:
    return True


_IS_WANTED: ContextVar[Callable[[], bool]] = ContextVar("is_wanted", default=_always)


@contextmanager
def stoppable(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Within, and in threads that copy the context, work goes on for as long as `is_wanted` says so."""
    token = _IS_WANTED.set(is_wanted)
    try:
        yield
    finally:
        _IS_WANTED.reset(token)


def check_wanted() -> None:
    """Go on, if the work is still wanted.

    Raises:
        Unwanted: it is not.
    """
    if not _IS_WANTED.get()():
        raise Unwanted


def while_wanted(items: Iterable[T]) -> Iterator[T]:
    """The items, for as long as the work is wanted.

    >>> with stoppable(lambda: False):
    ...     list(while_wanted([1]))
    Traceback (most recent call last):
    gnomon.stopping.Unwanted

    Raises:
        Unwanted: it is not any more.
    """
    for item in items:
        check_wanted()
        yield item
