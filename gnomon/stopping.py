"""Stops long work in a thread once its caller no longer waits, and tells the caller how far the work is."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
EVERY = 1_000  # items of long work, after which it looks up


class Unwanted(Exception):
    """The caller no longer waits for the result."""


def _always() -> bool:
    return True


def _to_nobody(_: str) -> None:
    pass


_IS_WANTED: ContextVar[Callable[[], bool]] = ContextVar("is_wanted", default=_always)
_TELL: ContextVar[Callable[[str], object]] = ContextVar("tell", default=_to_nobody)


@contextmanager
def stoppable(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Within, and in threads that copy the context, work goes on for as long as `is_wanted` says so."""
    token = _IS_WANTED.set(is_wanted)
    try:
        yield
    finally:
        _IS_WANTED.reset(token)


@contextmanager
def followed(tell: Callable[[str], object]) -> Iterator[None]:
    """Within, long work tells now and then how far it is."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


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


def counted(items: Iterable[T], what: str) -> Iterator[T]:
    """Very many items, for as long as the work is wanted; who follows it is told how many there were.

    >>> with followed(print):
    ...     sum(counted(range(2_001), "rows read"))
    1,000 rows read
    2,000 rows read
    2001000

    Raises:
        Unwanted: the work is no longer wanted.
    """
    for number, item in enumerate(items):
        if number % EVERY == 0:
            check_wanted()
            if number:
                _TELL.get()(f"{number:,} {what}")
        yield item
