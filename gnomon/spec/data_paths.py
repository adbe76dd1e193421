"""Folders: which paths a spec or a request may read from."""

from pathlib import Path

from gnomon.core.errors import SpecError
from tools.core.regular_file import ROOTS_VARIABLE


def for_command_line(written: str, roots: tuple[Path, ...] | None, *, field: str) -> Path:
    """A path typed by a user, relative to the current folder, links resolved.

    Raises:
        SpecError: nothing is there, or it is outside the roots where roots are set.
    """
    path = _resolved(written, Path.cwd(), field)
    if roots is not None:
        _check_inside(path, written, roots, field)
    if not path.exists():
        raise SpecError(f"{written!r} does not exist (looked for {path})", field=field)
    return path


def from_request(written: str, roots: tuple[Path, ...] | None, *, field: str) -> Path:
    """A path that came over HTTP: under one of the roots, links resolved; relative ones are tried in each.

    Raises:
        SpecError: no roots are set, or nothing is there. Absent and forbidden read alike: no probing.
    """
    if not roots:
        raise SpecError(f"no folder may be read: {ROOTS_VARIABLE} is not set on the server", field=field)
    for root in roots:
        path = _resolved(written, root, field)
        if any(path.is_relative_to(allowed) for allowed in roots) and path.exists():
            return path
    raise SpecError(f"it is no path under {ROOTS_VARIABLE}", field=field)


def _resolved(written: str, base: Path, field: str) -> Path:
    try:
        path = (base / written).resolve()
        path.exists()  # of some paths even this raises
        return path
    except (OSError, ValueError, RuntimeError):
        raise SpecError("is no path that can be read", field=field) from None


def _check_inside(path: Path, written: str, roots: tuple[Path, ...], field: str) -> None:
    if not any(path.is_relative_to(root) for root in roots):
        raise SpecError(
            f"{written!r} is not under {ROOTS_VARIABLE}: {', '.join(map(str, roots))}", field=field
        )
