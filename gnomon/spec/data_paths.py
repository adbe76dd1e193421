"""Resolves the paths that a spec or a request names, and refuses those it may not read."""

from pathlib import Path

from gnomon.core.errors import SpecError
from gnomon_tools.core.regular_file import ROOTS_VARIABLE


def for_command_line(text: str, roots: tuple[Path, ...] | None, *, field: str) -> Path:
    """A path typed by a user, relative to the current folder, links resolved.

    Raises:
        SpecError: it does not exist, or is outside the roots if roots are set.
    """
    path = _resolved(text, Path.cwd(), field)
    if roots is not None and not any(path.is_relative_to(root) for root in roots):
        raise SpecError(f"{text!r} is not under {ROOTS_VARIABLE}: {', '.join(map(str, roots))}", field=field)
    if not path.exists():
        looked_for = "" if text == str(path) else f" (looked for {path})"
        raise SpecError(f"{text!r} does not exist{looked_for}{_slashes(text)}", field=field)
    return path


def from_request(text: str, roots: tuple[Path, ...] | None, *, field: str) -> Path:
    """A path from an HTTP request: under one of the roots, links resolved; relative ones are tried in each.

    Raises:
        SpecError: no roots are set, or the path does not exist. Absent and forbidden paths get one message:
            a caller cannot probe for files.
    """
    if not roots:
        raise SpecError(f"no folder may be read: {ROOTS_VARIABLE} is not set on the server", field=field)
    for root in roots:
        path = _resolved(text, root, field)
        if any(path.is_relative_to(allowed) for allowed in roots) and path.exists():
            return path
    raise SpecError(f"there is no such path under {ROOTS_VARIABLE}{_slashes(text)}", field=field)


def _slashes(text: str) -> str:
    return "; folders are parted by /, not by \\" if "\\" in text else ""


def _resolved(text: str, base: Path, field: str) -> Path:
    try:
        path = (base / text).resolve()
        path.exists()  # raises for some paths
        return path
    except (OSError, ValueError, RuntimeError):
        raise SpecError("not a path that can be read", field=field) from None
