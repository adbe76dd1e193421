"""Negotiation: which of the offered media types a caller wants most."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException


def choose(accept: str | None, offered: Sequence[str]) -> str:
    """The offered type that `accept` likes best; the first offered where it does not care.

    >>> choose("text/html;q=0.9, application/json", ("application/json", "text/html"))
    'application/json'
    >>> choose("text/*", ("application/json", "text/html"))
    'text/html'

    Raises:
        HTTPException: 406, it likes none.
    """
    likings = [_liking(part) for part in (accept or "*/*").split(",")]
    best = max(offered, key=lambda kind: _quality(kind, likings))
    if _quality(best, likings) <= 0:
        raise HTTPException(406, f"offered here: {', '.join(offered)}")
    return best


def _liking(part: str) -> tuple[str, float]:
    kind, _, parameters = part.strip().lower().partition(";")
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "q":
            try:
                return kind.strip(), float(value)
            except ValueError:
                return kind.strip(), 0.0
    return kind.strip(), 1.0


def _quality(kind: str, likings: Sequence[tuple[str, float]]) -> float:
    """The weight of the most specific range that covers `kind` (RFC 9110, section 12.5.1)."""
    known = dict(likings)
    family = kind.partition("/")[0]
    for pattern in (kind, f"{family}/*", "*/*"):
        if pattern in known:
            return known[pattern]
    return 0.0
