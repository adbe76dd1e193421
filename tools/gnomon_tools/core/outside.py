"""Finds plug-ins that others wrote: entry points of installed packages, and objects of plug-in files.

Nothing is imported until a plug-in is asked for. Entry points are read once per process.
"""

import configparser
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from operator import attrgetter
from pathlib import Path
from types import ModuleType

from gnomon_tools.core.plugin_code import MOST_S, SECONDS_ENV, Interrupted, TooSlow, loading

FILES_ENV = "GNOMON_PLUGINS"
GROUPS = "gnomon."  # what the names of our groups of entry points begin with
OWN_PACKAGES = frozenset(
    {
        *("gnomon-trips", "gnomon-worlds", "gnomon-published", "gnomon-formats"),
        *("gnomon-rooms", "gnomon-analyses", "gnomon-outside", "gnomon-workbench"),
    }
)
MAX_CODE_FILES = 5_000  # of a package, whose code is hashed
_LOADING = threading.RLock()
_RUNNING: list[Path] = []  # the file that is being run
_TOO_SLOW: dict[str, str] = {}  # modules that were given up, with where they stood
_RELOADS: list[int] = []  # one entry for each time that the files are to be run anew


class PluginFault(Exception):
    """A plug-in from outside cannot be used; the message says which, whose it is, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Whose a plug-in is: an installed package with its version, or a file."""

    distribution: str  # name of the package, or of the file
    version: str = ""  # of the package; a file has none
    file: Path | None = None

    def __str__(self) -> str:
        return f"file {self.file}" if self.file else self.label

    @property
    def label(self) -> str:
        """The same without the folder of a file, which callers over HTTP need not know."""
        return f"file {self.distribution}" if self.file else f"{self.distribution} {self.version}"

    @property
    def is_ours(self) -> bool:
        """Whether it is a package that comes with Gnomon, from the same repository."""
        return self.file is None and self.distribution in OWN_PACKAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """One line of a package's entry points: `name = module:attribute`."""

    name: str
    group: str
    module: str
    attribute: str
    origin: Origin

    def load(self) -> object:
        """The object it names; its module is imported.

        Raises:
            PluginFault: it cannot be; the message names the line of code where there is one.
        """
        most_s = _most_seconds()
        what = f"{self.name!r} of {self.origin} ({self.module}:{self.attribute})"
        if self.module in _TOO_SLOW:  # every plug-in in it would take as long again
            raise PluginFault(f"{what} does not load: {_TOO_SLOW[self.module]}")
        try:
            with loading(what, most_s=most_s):
                plugin: object = attrgetter(self.attribute)(importlib.import_module(self.module))
        except Interrupted:
            raise
        except BaseException as error:
            fault = _where(error, within=code_files(self.module))
            if isinstance(error, TooSlow):
                _TOO_SLOW[self.module] = fault
            raise PluginFault(f"{what} does not load: {fault}") from error
        return plugin


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedFile:
    """A plug-in file after it was run, with the hash of the text that was run."""

    origin: Origin
    module: ModuleType
    code: str

    def objects(self) -> list[object]:
        """What its public names hold, each object once; classes, functions and modules are passed over."""
        values = [value for name, value in vars(self.module).items() if not name.startswith("_")]
        kept: dict[int, object] = {id(value): value for value in values}
        return [value for value in kept.values() if not isinstance(value, type | ModuleType)]


def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Those of this group, of all packages that are installed here."""
    return _installed()[0].get(group, ())


def unread_packages() -> tuple[str, ...]:
    """What is wrong with packages whose entry points cannot be read: whatever they bring is not here."""
    return _installed()[1]


@functools.cache
def _installed() -> tuple[Mapping[str, tuple[EntryPoint, ...]], tuple[str, ...]]:
    """Every entry point for us, by group. Of a package installed twice the first on the path counts."""
    by_group: dict[str, list[EntryPoint]] = {}
    packages: set[str] = set()
    unread: list[str] = []
    places = [place for place in sys.path if place]  # the current folder is the user's
    for distribution in distributions(path=places):
        try:
            text = distribution.read_text("entry_points.txt") or ""
        except UnicodeDecodeError:
            continue
        if f"[{GROUPS}" not in text:
            continue
        name, version = distribution.metadata["Name"], distribution.metadata["Version"]
        origin = Origin(distribution=name or "unknown", version=version or "unknown")
        key = re.sub(r"[-_.]+", "-", origin.distribution).lower()
        if key not in packages:
            packages.add(key)
            try:
                points = list(_parsed(text, origin))
            except configparser.Error as error:
                says = " ".join(str(error).split())
                unread.append(f"the entry points of {origin} cannot be read: {says}")
                continue
            for point in points:
                by_group.setdefault(point.group, []).append(point)
    by_name = attrgetter("origin.distribution")
    return {group: tuple(sorted(points, key=by_name)) for group, points in by_group.items()}, tuple(unread)


def _parsed(text: str, origin: Origin) -> Iterator[EntryPoint]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    parser.read_string(text)
    for group in parser.sections():
        if group.startswith(GROUPS):
            for name, value in parser.items(group):
                module, _, attribute = value.partition("[")[0].strip().partition(":")
                yield EntryPoint(
                    name=name, group=group, module=module.strip(), attribute=attribute.strip(), origin=origin
                )


def plugin_files() -> tuple[Path, ...]:
    """The files that GNOMON_PLUGINS names, each once.

    Raises:
        PluginFault: a path is not absolute: child processes may run elsewhere.
    """
    paths = [Path(part) for part in os.environ.get(FILES_ENV, "").split(os.pathsep) if part]
    for path in paths:
        if not path.is_absolute():
            raise PluginFault(f"{FILES_ENV}: {str(path)!r} is no absolute path")
    return tuple(dict.fromkeys(paths))


def _most_seconds() -> float:
    """How long a module may run."""
    text = os.environ.get(SECONDS_ENV) or f"{MOST_S:g}"
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        message = f"{SECONDS_ENV}: {text!r} is no number of seconds; allowed: whole ones from 1 to 999999"
        raise PluginFault(message)
    return float(text)


def loaded_files() -> tuple[LoadedFile, ...]:
    """The plug-in files, each run once per process.

    Raises:
        PluginFault: one cannot be read or run; the message names the file and the line.
    """
    with _LOADING:
        if _RUNNING:
            raise PluginFault("plug-ins were asked for while the file was loaded; ask in a function")
        return tuple(_load_file(path) for path in plugin_files())


def reload_files() -> None:
    """Run the plug-in files anew when they are next asked for: one of them was edited."""
    with _LOADING:
        _load_file.cache_clear()
        _RELOADS.append(1)


def files_stamp() -> str:
    """What changes whenever other files are named, or the same are to be run anew."""
    return f"{len(_RELOADS)}:{os.environ.get(FILES_ENV, '')}"


@functools.cache
def _load_file(path: Path) -> LoadedFile:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise PluginFault(f"the plug-in file {path} cannot be read: {error.strerror}") from None
    code = hashlib.sha256(source).hexdigest()
    name = f"gnomon_plugin_{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}_{code[:8]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    most_s = _most_seconds()
    # Python's own recipe for a file that is imported by its path: dataclasses, pydantic and pickle look up a
    # class's module there.
    sys.modules[name] = module
    _RUNNING.append(path)
    try:
        with loading(f"the plug-in file {path}", most_s=most_s):
            exec(compile(source, str(path), "exec"), vars(module))  # noqa: S102 (what a plug-in file is for)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Interrupted):
            raise
        raise PluginFault(f"the plug-in file {path} does not load: {_where(error, within=[path])}") from error
    finally:
        _RUNNING.remove(path)
    return LoadedFile(origin=Origin(distribution=path.name, file=path), module=module, code=code)


def _where(error: BaseException, *, within: Sequence[Path]) -> str:
    """The error in one line, with the innermost line of the plug-in's own code."""
    says = " ".join(str(error).split())
    if not isinstance(error, TooSlow):
        says = f"{type(error).__name__}: {says}".rstrip(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    own = {str(path) for path in within}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}: {says}" if frames else says


def code_hash(module: str) -> str:
    """A hash of the Python files that a module's package holds; empty where there are none."""
    files = code_files(module)
    if not files:
        return ""
    root, digest = Path(os.path.commonpath([file.parent for file in files])), hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def code_files(module: str) -> list[Path]:
    """The Python files of the package that a module is in, or its only file; at most MAX_CODE_FILES."""
    spec = find_module(module.partition(".")[0])
    if spec is not None and spec.origin is None and "." in module:  # a namespace, which others share
        spec = find_module(".".join(module.split(".")[:2]))
    if spec is None:
        return []
    if spec.submodule_search_locations:
        files = [file for place in spec.submodule_search_locations for file in Path(place).rglob("*.py")]
        return sorted(files)[:MAX_CODE_FILES]
    return [Path(spec.origin)] if spec.origin and spec.origin.endswith(".py") else []


def find_module(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where a module is; unlike `importlib.util.find_spec` this imports none of its packages."""
    first, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        return None
    for at, _ in enumerate(rest, start=2):
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
        spec = importlib.machinery.PathFinder.find_spec(".".join(name.split(".")[:at]), path)
    return spec
