"""Imports that a process does later than at its start, or not at all.

What a module imports only when it is used it names in LAZY, so that a list of tools need not wait for it; a
worker loads it before it forks, once for all shards of a job.
"""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


def load_lazy() -> None:
    """Import what the modules loaded so far name in their LAZY."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("tools.", "gnomon.")):
            for late in getattr(module, "LAZY", ()):
                importlib.import_module(late)


@contextmanager
def blocked(*names: str) -> Iterator[None]:
    """Within, an import of these modules fails as where they are not installed; afterwards it works again.

    For libraries that try such an import and go on when it fails; what they then say in warnings is
    silenced. None in `sys.modules` is Python's own mark for this. A module that is loaded already stays.
    Other threads meet the same, so this is for the start of a process.

    >>> with blocked("tabnanny"):
    ...     import tabnanny
    Traceback (most recent call last):
    ModuleNotFoundError: import of tabnanny halted; None in sys.modules
    >>> import tabnanny
    """
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # the mark; its stub knows modules only
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


class _DeferredPackage(ModuleType):
    """A package whose own code runs once something of it is asked for that its modules do not give."""

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        if name.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]  # from now on it is as any other
        spec.loader.exec_module(self)
        return getattr(self, name)


def defer_package(name: str) -> None:
    """Let modules of a package be imported without what its `__init__` imports, until that is wanted.

    For packages of which a library wants one module and gets all. One that is loaded, or not installed, stays
    as it is.

    >>> defer_package("wsgiref")
    >>> from wsgiref.types import WSGIApplication
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is not None:
        package = _DeferredPackage(name)
        package.__spec__, package.__file__, package.__package__ = spec, spec.origin, name
        package.__path__ = list(spec.submodule_search_locations or ())
        sys.modules[name] = package
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, package)
