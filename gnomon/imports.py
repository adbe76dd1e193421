"""Imports: libraries loaded without packages that they would take along and can do without."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


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
