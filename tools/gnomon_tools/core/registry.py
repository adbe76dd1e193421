"""Finds plug-ins by name: our own modules first, then installed packages and plug-in files.

One of ours is one module with one object of the module's own name, in a package of the kernel or in one of
`packages/`, which names it as an entry point. Those of others: `tools/gnomon_tools/core/outside.py`.
"""

import ast
import difflib
import functools
import importlib
import importlib.machinery
import importlib.util
import logging
import pkgutil
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar, cast

from gnomon_tools.core import python_source
from gnomon_tools.core.outside import (
    EntryPoint,
    LoadedFile,
    Origin,
    PluginFault,
    code_hash,
    entry_points,
    files_stamp,
    find_module,
    loaded_files,
)
from gnomon_tools.core.plugin_code import contained

T = TypeVar("T")

NAME = re.compile(r"(?!.*__)[A-Za-z][A-Za-z0-9_-]{0,63}")
ALLOWED_NAME = "a letter, then letters, digits, - and _, up to 64 characters, no two _ side by side"
NEAR = 0.75  # how alike two names are of which one may be meant for the other
IF_YOURS = "one of yours is loaded by --plugin FILE, or installed"
log = logging.getLogger(__name__)


class UnknownPlugin(LookupError):
    """No plug-in of that name; the message lists those there are."""

    def __init__(self, noun: str, name: str, names: tuple[str, ...], *, may_be_yours: bool = False) -> None:
        super().__init__(f"no {noun} {name!r}; {choices(name, names, may_be_yours=may_be_yours)}")


def choices(name: str, names: Sequence[str], *, may_be_yours: bool = False) -> str:
    """What there is in place of a name that is not there, the nearest first.

    Where no name is near and others may add to them (`may_be_yours`), it says how one's own is loaded.

    >>> choices("distanc", ("bearing", "distance"), may_be_yours=True), choices("fly", ())
    ("did you mean 'distance'? There are: bearing, distance", 'there are: none')
    >>> choices("fly", ("walk",), may_be_yours=True)
    'there are: walk; one of yours is loaded by --plugin FILE, or installed'
    """
    near = difflib.get_close_matches(name, names, n=1, cutoff=NEAR)
    listed = ", ".join(names) or "none"
    if near:
        return f"did you mean {near[0]!r}? There are: {listed}"
    return f"there are: {listed}; {IF_YOURS}" if may_be_yours else f"there are: {listed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _InFile:
    """An object of a plug-in file that one registry takes."""

    file: LoadedFile
    item: object

    @property
    def origin(self) -> Origin:
        return self.file.origin

    def load(self) -> object:
        return self.item


@dataclass(frozen=True, slots=True, kw_only=True)
class _Twice:
    """A name that two packages have: neither can be used, and whoever asks for it hears of both."""

    origin: Origin
    fault: str
    module: str

    def load(self) -> object:
        raise PluginFault(self.fault)


_Candidate: TypeAlias = EntryPoint | _InFile | _Twice


class Registry(Generic[T]):
    """The plug-ins of one kind, imported when first asked for.

    A public module of `package` is a plug-in and defines one object of its own name. Sub-packages are
    shared code, unless `folders` is true: then each is a plug-in that re-exports such an object.
    Names wear dashes where module names wear underscores, unless `dashes` is false.

    With a `group`, others may add to them: by entry points of that group, and by files that GNOMON_PLUGINS
    names, of which it takes what `accepts` says is of its kind. `reserved` says who has a name elsewhere,
    in words; nothing where nobody has. `check` says what is wrong with one of others that was loaded.
    Entry points are read when a name is sought that is none of ours.
    """

    def __init__(
        self,
        package: str,
        noun: str,
        *,
        folders: bool = False,
        dashes: bool = True,
        group: str = "",
        accepts: Callable[[object], bool] = lambda _: True,
        reserved: Callable[[str], str] = lambda _: "",
        check: Callable[[T], str] = lambda _: "",
    ) -> None:
        self.package, self.noun, self.group = package, noun, group
        self._folders, self._dashes = folders, dashes
        self._accepts, self._reserved, self._check = accepts, reserved, check
        self._own: Mapping[str, str] | None = None  # the modules of ours, by the plug-in's name
        self._found: tuple[str, Mapping[str, _Candidate]] | None = None
        self._loaded: dict[str, T | PluginFault] = {}
        self._overruled: Mapping[str, str] = {}  # packages' plug-ins with names of ours, by name
        self._codes: dict[str, str] = {}
        self._lock = threading.RLock()

    def names(self) -> tuple[str, ...]:
        """Every plug-in's public name, sorted; imports none of ours and none that is installed.

        Raises:
            PluginFault: a plug-in file does not load, or has a name that is taken.
        """
        return tuple(sorted((*self.own_names(), *self._outside())))

    def working_names(self) -> tuple[str, ...]:
        """The names of all but those of others that do not load, of which a warning is logged, once."""
        return tuple(name for name in self.names() if name in self.own_names() or self._loads(name))

    def _loads(self, name: str) -> bool:
        is_new = name not in self._loaded
        try:
            self.get(name)
        except PluginFault as fault:
            if is_new:
                log.warning("the %s %s is left out: %s", self.noun, name, fault)
            return False
        return True

    def own_names(self) -> tuple[str, ...]:
        """The names of our own ones, sorted."""
        return tuple(self._own_modules())

    def _own_modules(self) -> Mapping[str, str]:
        """The modules of our own ones by name, sorted; looked for once."""
        if self._own is None:
            ours = {point.name: point.module for point in entry_points(self.group) if point.origin.is_ours}
            self._own = dict(sorted({**self._in_package(), **ours}.items()))
        return self._own

    def own(self) -> tuple[T, ...]:
        """Our own ones, in the order of their names."""
        return tuple(self.get(name) for name in self.own_names())

    def outside_names(self) -> tuple[str, ...]:
        """The names of those that others wrote, sorted."""
        return tuple(sorted(self._outside()))

    def __contains__(self, name: object) -> bool:
        return name in self.own_names() or name in self._outside()

    def get(self, name: str) -> T:
        """The plug-in called `name`.

        Raises:
            UnknownPlugin: the plug-in does not exist; the message lists those that do.
            PluginFault: another's plug-in does not load, or is not what its name promises.
        """
        if module := self._own_modules().get(name):
            return cast(T, getattr(importlib.import_module(module), module.rpartition(".")[2]))
        if name not in self._outside():
            raise self._unknown(name)
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
        loaded = self._loaded[name]
        if isinstance(loaded, PluginFault):
            raise loaded
        return loaded

    def _unknown(self, name: str) -> UnknownPlugin:
        return UnknownPlugin(self.noun, name, self.names(), may_be_yours=bool(self.group))

    def find(self, name: str) -> T | None:
        """The plug-in called `name`; None where there is none, and for one of others that does not load."""
        try:
            return self.get(name)
        except (UnknownPlugin, PluginFault):
            return None

    def origin(self, name: str) -> Origin | None:
        """Whose the plug-in is; None for one of ours, and for a name that there is not."""
        return (
            None if name in self.own_names() or name not in self._outside() else self._outside()[name].origin
        )

    def is_of_a_file(self, name: str) -> bool:
        """Whether the plug-in is an object of a plug-in file."""
        return name not in self.own_names() and isinstance(self._outside().get(name), _InFile)

    def whose(self, name: str) -> str | None:
        """The package with its version, or the file, of another's plug-in; None for one of ours."""
        origin = self.origin(name)
        return origin.label if origin else None

    def with_origin(self, name: str, text: str) -> str:
        """A text about the plug-in, with whose it is where it is not ours."""
        whose = self.whose(name)
        return f"{text} (from {whose})" if whose else text

    def summary_of(self, name: str) -> str:
        """The summary, with whose the plug-in is where it is not ours."""
        return self.with_origin(name, self.summary(name))

    def code(self, name: str) -> str:
        """A hash of the code of another's plug-in, as it was when it was loaded; empty for ours.

        Raises:
            UnknownPlugin, PluginFault: as `get` does.
        """
        self.get(name)
        return self._codes.get(name, "")

    def faults(self) -> Mapping[str, str]:
        """What is wrong with those of others that cannot be used, by name; all of them are loaded."""
        names = self.outside_names()
        faults = dict(self._overruled)
        for name in names:
            try:
                self.get(name)
            except PluginFault as fault:
                faults[name] = str(fault)
        return faults

    def summary(self, name: str) -> str:
        """The first line of the plug-in's docstring, read without importing it."""
        return self._docstring(name).partition("\n")[0]

    def details(self, name: str) -> str:
        """What follows the first line of the plug-in's docstring."""
        return self._docstring(name).partition("\n")[2].strip()

    def folder_module(self, name: str) -> str | None:
        """The package that a plug-in is, which may hold further modules; None for a mere module."""
        if module := self._own_modules().get(name, ""):
            spec = importlib.util.find_spec(module)
        else:
            plugin = self._outside().get(name)
            if not isinstance(plugin, EntryPoint):
                return None
            module, spec = plugin.module, find_module(plugin.module)
        return module if spec is not None and spec.submodule_search_locations else None

    def __iter__(self) -> Iterator[T]:
        """Every plug-in that loads; of the others a warning is logged, once."""
        for name in self.working_names():
            yield self.get(name)

    def _in_package(self) -> Mapping[str, str]:
        if not self.package:
            return {}
        path = importlib.import_module(self.package).__path__
        names = (
            module.name
            for module in pkgutil.iter_modules(path)
            if not module.name.startswith("_") and (self._folders or not module.ispkg)
        )
        return {name.replace("_", "-") if self._dashes else name: f"{self.package}.{name}" for name in names}

    def _outside(self) -> Mapping[str, _Candidate]:
        """Those of others by name, read again only where the plug-in files have changed."""
        if not self.group:
            return {}
        stamp = files_stamp()
        if self._found is None or self._found[0] != stamp:
            with self._lock:
                self._found = (stamp, self._find())
                self._loaded.clear()
        return self._found[1]

    def _find(self) -> Mapping[str, _Candidate]:
        """Those of others by name. A file that brings a name which is taken is refused, as its user can
        mend it; of two packages neither is had, and what is ours stays ours.
        """
        found: dict[str, _Candidate] = {}
        overruled: dict[str, str] = {}
        for name, plugin in self._candidates():
            other = found.get(name)
            ours = "" if other else self._owner(name)
            if not (other or ours):
                found[name] = plugin
                continue
            both = f"by {ours or (other and other.origin)} and by {plugin.origin}"
            remedy = "one needs another name" if other or isinstance(plugin, _InFile) else "ours is used"
            fault = f"{name!r} is there twice: {both}; {remedy}"
            if isinstance(plugin, _InFile):
                raise PluginFault(f"the {self.noun} {fault}")
            if other:
                found[name] = _Twice(origin=other.origin, fault=fault, module=plugin.module)
            else:
                overruled[name] = f"the {self.noun} {fault}"
                log.warning("the %s %s", self.noun, fault)
        self._overruled = overruled
        return found

    def _candidates(self) -> Iterator[tuple[str, _Candidate]]:
        for point in entry_points(self.group):
            if not point.origin.is_ours:
                yield point.name, point
        for file in loaded_files():
            for item in file.objects():
                name = self._name_of(item)
                if name is not None and not self._is_own(name, item):
                    yield name, _InFile(file=file, item=item)

    def takes(self, item: object) -> bool:
        """Whether an object is of this kind."""
        return self._name_of(item) is not None

    def _name_of(self, item: object) -> str | None:
        """The name of an object that is of this kind."""
        try:
            with contained():
                return str(getattr(item, "name", "")) if self._accepts(item) else None
        except Exception:  # noqa: BLE001 (whatever a stranger's object does when it is looked at)
            return None

    def _fault_of(self, item: T) -> str:
        """What is wrong with one of others, in words."""
        try:
            with contained():
                return self._check(item)
        except Exception as error:  # noqa: BLE001 (as above)
            return f"it cannot be looked at: {type(error).__name__}: {error}"

    def _is_own(self, name: str, item: object) -> bool:
        """Whether a file has merely imported a plug-in of ours."""
        module = self._own_modules().get(name, "")
        return bool(module) and item is getattr(sys.modules.get(module), module.rpartition(".")[2], None)

    def _owner(self, name: str) -> str:
        """Who of us has that name already; empty where it is free."""
        if name in self.own_names():
            return f"Gnomon itself ({self._own_modules()[name].rpartition('.')[0]})"
        return self._reserved(name)

    def _load(self, name: str) -> T | PluginFault:
        plugin = self._outside()[name]
        whose = f"the {self.noun} {name!r} of {plugin.origin}"
        try:
            item = plugin.load()
        except PluginFault as fault:
            return PluginFault(f"the {self.noun} {fault}")
        if isinstance(item, type):
            return PluginFault(f"{whose} is a class; it must be an object")
        own_name = self._name_of(item)
        if own_name is None:
            return PluginFault(f"{whose} is no {self.noun}, but {type(item).__name__}")
        if own_name != name:
            return PluginFault(f"{whose} calls itself {own_name!r}; both names must be the same")
        if not NAME.fullmatch(name):
            return PluginFault(f"{whose} has a name that is not allowed; allowed: {ALLOWED_NAME}")
        if wrong := self._fault_of(cast(T, item)):
            return PluginFault(f"{whose}: {wrong}")
        self._codes[name] = plugin.file.code if isinstance(plugin, _InFile) else code_hash(plugin.module)
        return cast(T, item)

    def _docstring(self, name: str) -> str:
        own_module = self._own_modules().get(name, "")
        plugin = None if own_module else self._outside().get(name)
        if isinstance(plugin, _InFile):
            own = getattr(plugin.item, "description", "") or type(plugin.item).__doc__
            return str(own or plugin.file.module.__doc__ or "")
        if not (plugin or own_module):
            raise self._unknown(name)
        return _docstring_of(find_module(plugin.module if plugin else own_module))


@functools.cache
def _docstring_in(code: bytes) -> str:
    """The docstring of a module; lists of plug-ins ask for the same ones each time."""
    return ast.get_docstring(python_source.parse(code)) or ""


def _docstring_of(spec: importlib.machinery.ModuleSpec | None) -> str:
    """The docstring of another's module; empty where there is no such file, or it is no Python."""
    try:
        return _docstring_in(Path((spec and spec.origin) or "").read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return ""
