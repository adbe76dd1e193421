"""Finds plug-ins in a package: one module, one object of the module's own name."""

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class UnknownPlugin(LookupError):
    """No plug-in of that name; the message lists those there are."""

    def __init__(self, noun: str, name: str, names: tuple[str, ...]) -> None:
        super().__init__(f"no {noun} {name!r}; there are: {', '.join(names)}")


class Registry(Generic[T]):
    """The plug-ins of one package, imported when first asked for.

    A public module is a plug-in and defines one object of its own name. Sub-packages are
    shared code, unless `folders` is true: then each is a plug-in that re-exports such an object.
    Names wear dashes where module names wear underscores, unless `dashes` is false.
    """

    def __init__(self, package: str, noun: str, *, folders: bool = False, dashes: bool = True) -> None:
        self.package, self.noun = package, noun
        self._folders, self._dashes = folders, dashes
        self._names: tuple[str, ...] | None = None

    def names(self) -> tuple[str, ...]:
        """Every plug-in's public name, sorted; imports none of them. The folder is read once."""
        if self._names is None:
            self._names = self._found()
        return self._names

    def _found(self) -> tuple[str, ...]:
        path = importlib.import_module(self.package).__path__
        names = (
            module.name
            for module in pkgutil.iter_modules(path)
            if not module.name.startswith("_") and (self._folders or not module.ispkg)
        )
        return tuple(sorted(name.replace("_", "-") if self._dashes else name for name in names))

    def get(self, name: str) -> T:
        """The plug-in called `name`.

        Raises:
            UnknownPlugin: the plug-in does not exist; the message lists those that do.
        """
        if name not in self.names():
            raise UnknownPlugin(self.noun, name, self.names())
        module = name.replace("-", "_")
        return cast(T, getattr(importlib.import_module(f"{self.package}.{module}"), module))

    def summary(self, name: str) -> str:
        """The first line of the plug-in's docstring, read without importing it."""
        return self._docstring(name).partition("\n")[0]

    def details(self, name: str) -> str:
        """What follows the first line of the plug-in's docstring."""
        return self._docstring(name).partition("\n")[2].strip()

    def _docstring(self, name: str) -> str:
        spec = importlib.util.find_spec(f"{self.package}.{name.replace('-', '_')}")
        if spec is None or spec.origin is None:
            raise UnknownPlugin(self.noun, name, self.names())
        return ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""

    def __iter__(self) -> Iterator[T]:
        return (self.get(name) for name in self.names())
