"""What a package adds to the service: routes and pages.

An extension is found by its entry point, `gnomon.extensions`. What it holds is made when it is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon_tools.core.registry import Registry

if TYPE_CHECKING:
    from fastapi import APIRouter


class NavigationEntry(NamedTuple):
    """A word in the navigation of all pages, its address, and the beginnings of the addresses below it."""

    word: str
    href: str
    below: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """`folders` hold `templates` and `static` files of its pages. Routes need the key of the API, if it has
    one.
    """

    name: str
    description: str
    routers: Callable[[], Sequence["APIRouter"]] = tuple
    navigation: tuple[NavigationEntry, ...] = ()
    folders: tuple[Path, ...] = ()


EXTENSIONS: Registry[Extension] = Registry(
    "", "extension", group="gnomon.extensions", accepts=lambda item: isinstance(item, Extension)
)
