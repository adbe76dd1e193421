"""Imports that a process does later than at its start, or not at all.

What a module imports only when it is used it names in LAZY, so that a list of tools need not wait for it; a
worker loads it before it forks, once for all shards of a job.
"""

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Union

LAZY = ("pydantic",)


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


@contextmanager
def late_validators() -> Iterator[None]:
    """Within, Pydantic makes models without their validators: each makes its own when it is first used.

    For a library that brings models which few programs use. One whose `model_config` says otherwise keeps it;
    what is derived from such a model later makes its validator late too.

    >>> from pydantic import BaseModel
    >>> with late_validators():
    ...     class Place(BaseModel):
    ...         name: str
    >>> Place.__pydantic_complete__, Place(name="x"), Place.__pydantic_complete__
    (False, Place(name='x'), True)
    """
    from pydantic import BaseModel  # late itself: commands that need no model import this module

    before = BaseModel.model_config  # which every model inherits
    BaseModel.model_config = {**before, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before


@contextmanager
def late(*names: str) -> Iterator[None]:
    """Within, these modules are not imported: what others take from them are stand-ins, each of which
    imports its module when it is first used. Afterwards they are imported as ever.

    For a library that imports at its start what it needs in few cases. A stand-in can be called, derived
    from, asked for attributes, and be part of a type or of an `isinstance`; `except` does not take it, nor
    Pydantic a `type` of it, and it is no container. A module that is loaded already stays.

    >>> with late("wsgiref.headers"):
    ...     from wsgiref.headers import Headers
    >>> "wsgiref.headers" in sys.modules
    False
    >>> Headers([("Age", "1")])["age"], isinstance(1, Headers | str)
    ('1', False)
    """
    modules: list[_LateModule] = []
    modules += [_LateModule(name, modules) for name in names if name not in sys.modules]
    sys.modules.update({module.__name__: module for module in modules})
    try:
        yield
    finally:
        for module in modules:
            module.leave()


class _LateModule(ModuleType):
    """Stands where a module would be, until `leave`."""

    def __init__(self, name: str, group: "list[_LateModule]") -> None:
        super().__init__(name)
        self.__group = group

    def __getattr__(self, name: str) -> Any:
        if self.is_in_place():
            if name.startswith("__"):
                raise AttributeError(name)
            return _LateName(self, name)
        for module in self.__group:  # they need one another, and here the modules themselves
            module.leave()
        return getattr(importlib.import_module(self.__name__), name)

    def is_in_place(self) -> bool:
        """Whether an import of the module would give this."""
        return sys.modules.get(self.__name__) is self

    def leave(self) -> None:
        """Make way for the module itself."""
        if self.is_in_place():
            del sys.modules[self.__name__]


class _LateName:
    """Stands for a class or a function of a late module."""

    def __init__(self, module: _LateModule, name: str) -> None:
        self.__module, self.__name = module, name

    def __itself(self) -> Any:
        self.__module.leave()
        return getattr(self.__module, self.__name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and self.__module.is_in_place():
            raise AttributeError(name)  # `typing` looks for such where types are put together
        return getattr(self.__itself(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__itself()(*args, **kwargs)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.__itself(),)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self.__itself())

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, self.__itself())

    def __get_pydantic_core_schema__(self, _source: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(Any if self.__module.is_in_place() else self.__itself())

    def __getitem__(self, key: Any) -> Any:
        return self.__itself()[key]

    def __or__(self, alternative: Any) -> Any:
        return Union[self, alternative]  # noqa: UP007 (a union by `|` would have to know it already)

    def __ror__(self, alternative: Any) -> Any:
        return Union[alternative, self]  # noqa: UP007
