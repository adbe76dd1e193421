"""Stops long work in a thread once its caller no longer waits for it: the work checks now and then."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


class Unwanted(Exception):
    """The caller no longer waits for the result."""


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
        Unwanted: the work is no longer wanted.
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
        Unwanted: the work is no longer wanted.
    """
    for item in items:
        check_wanted()
        yield item
