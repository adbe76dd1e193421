"""Folders: which paths a spec or a request may read from."""

from pathlib import Path
from typing import Protocol

from gnomon.core.errors import SpecError
from tools.core.regular_file import ROOTS_VARIABLE


class PathResolver(Protocol):
    """How a path that was given becomes one that may be read."""

    def __call__(self, given: str, roots: tuple[Path, ...] | None, *, field: str) -> Path: ...


def for_command_line(given: str, roots: tuple[Path, ...] | None, *, field: str) -> Path:
    """A path typed by a user, relative to where they stand, links resolved.

    Raises:
        SpecError: there is nothing, or it lies outside the roots where roots are set.
    """
    path = _resolved(given, Path.cwd(), field)
    if roots is not None:
        _check_inside(path, given, roots, field)
    if not path.exists():
        raise SpecError(f"{given!r} does not exist (looked for {path})", field=field)
    return path


def from_request(given: str, roots: tuple[Path, ...] | None, *, field: str) -> Path:
    """A path that came over HTTP: under one of the roots, links resolved; relative ones are tried in each.

    Raises:
        SpecError: no roots are set, or nothing is there. Absent and forbidden read alike: nobody can probe.
    """
    if not roots:
        raise SpecError(f"no folder may be read: {ROOTS_VARIABLE} is not set on the server", field=field)
    for root in roots:
        path = _resolved(given, root, field)
        if any(path.is_relative_to(allowed) for allowed in roots) and path.exists():
            return path
    raise SpecError(f"it is no path under {ROOTS_VARIABLE}", field=field)


def _resolved(given: str, base: Path, field: str) -> Path:
    try:
        path = (base / given).resolve()
        path.exists()  # some paths cannot even be asked for
        return path
    except (OSError, ValueError, RuntimeError):
        raise SpecError("is no path that can be read", field=field) from None


def _check_inside(path: Path, given: str, roots: tuple[Path, ...], field: str) -> None:
    if not any(path.is_relative_to(root) for root in roots):
        raise SpecError(f"{given!r} is not under {ROOTS_VARIABLE}: {', '.join(map(str, roots))}", field=field)
