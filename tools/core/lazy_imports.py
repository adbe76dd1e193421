"""Imports that a process does later than at its start, or not at all.

What a module imports only when it is used it names in LAZY, so that a list of tools need not wait for it; a
worker loads it before it forks, once for all shards of a job.
"""

import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType


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


@contextmanager
def hollow(*packages: str) -> Iterator[None]:
    """Within, a module of these packages is imported without what the package itself would import; afterwards
    the package can be imported as a whole.

    For a library that takes a name or two from a large package. One that is loaded already stays. A module
    that was imported within is later found by `from package import module`, not as the package's attribute.

    >>> with hollow("wsgiref"):
    ...     import wsgiref.util
    ...     hasattr(sys.modules["wsgiref"], "__file__")
    False
    >>> import wsgiref
    >>> hasattr(wsgiref, "__file__")
    True
    """
    emptied: list[tuple[str, ModuleType, ModuleType | None]] = []  # name, package, its parent
    try:
        for name in packages:
            spec = None if name in sys.modules else find_spec(name)
            if spec is not None and spec.submodule_search_locations is not None:
                package = ModuleType(name)
                package.__path__ = list(spec.submodule_search_locations)
                parent = sys.modules.get(name.rpartition(".")[0])
                emptied.append((name, package, parent))
                sys.modules[name] = package
                if parent is not None:  # as an import does
                    setattr(parent, name.rpartition(".")[2], package)
        yield
    finally:
        for name, package, parent in emptied:
            last = name.rpartition(".")[2]
            if sys.modules.get(name) is package:
                del sys.modules[name]
            if parent is not None and vars(parent).get(last) is package:
                delattr(parent, last)
