"""Writes how long ago something was, and how long it lasts, in words."""

import datetime as dt

UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


def seconds_text(seconds: float) -> str:
    """A time in its largest unit.

    >>> [seconds_text(seconds) for seconds in (0.2, 45, 130, 7_300, 200_000)]
    ['1 s', '45 s', '2 min', '2 h', '2 d']
    """
    whole = max(1.0, seconds)
    size, unit = next((size, unit) for size, unit in UNITS if whole >= size)
    return f"{round(whole / size)} {unit}"


def ago(seconds: float) -> str:
    """How long ago something was.

    >>> [ago(seconds) for seconds in (0.5, 61, 90_000, 500_000)]
    ['just now', '1 min ago', 'yesterday', '6 days ago']
    """
    if seconds < 2:
        return "just now"
    if seconds < 86_400:
        return f"{seconds_text(seconds)} ago"
    days = round(seconds / 86_400)
    return "yesterday" if days <= 1 else f"{days} days ago"


def seconds_of(iso: str) -> float:
    """A time in ISO 8601 as seconds since 1970.

    >>> seconds_of("1970-01-01T00:00:00.500Z")
    0.5
    """
    return dt.datetime.fromisoformat(iso).timestamp()
