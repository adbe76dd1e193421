"""Writes the number in a cell as a person sees it there: a date, a time, a share, or the number."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

# Formats that a workbook names by number. What it leaves to the reader's country is written as ISO 8601.
USUAL = {9: "0%", 10: "0.00%", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy"}
USUAL |= {18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm"}
USUAL |= {45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0"}
LEAP_BUG = 60  # the day 29 February 1900, which never was; days before it count from one later
AFTER_LAST_DAY = 2_958_466  # 1 January 10000
_PART = re.compile(
    r'"([^"]*)"|\\(.)|[_*].|(\[(?:h+|m+|s+)\]|am/pm|a/p|y+|m+|d+|h+|s+(?:\.0+)?)|\[[^\]]*\]|(.)',
    re.IGNORECASE | re.DOTALL,
)


def number_as_seen(number: str, form: str, *, since_1904: bool = False) -> str:
    """The number of a cell in the format `form`; days count from 1904 in some workbooks.

    >>> number_as_seen("45366", "d.m.yyyy"), number_as_seen("0.604166666666667", "h:mm AM/PM")
    ('15.3.2024', '2:30 PM')
    >>> number_as_seen("1.09375", "[h]:mm"), number_as_seen("0.5", "0%"), number_as_seen("7", "000")
    ('26:15', '50%', '007')
    >>> number_as_seen("7.0000000000000007E-2", ""), number_as_seen("1E+20", "General")
    ('0.07', '100000000000000000000')
    """
    parts = [match.groups(default="") for match in _PART.finditer(form.partition(";")[0])]
    times = [part.lower() for *_, part, _ in parts]
    others = "".join(plain for *_, plain in parts)
    try:
        value = float(number)
        if any(times) and 0 <= value < AFTER_LAST_DAY:
            return "".join(_moment_parts(value, parts, times, since_1904=since_1904)).strip()
        text = format(Decimal(f"{value * (100 if '%' in others else 1):.15g}"), "f")
    except (ValueError, ArithmeticError):
        return number
    return f"{text}%" if "%" in others else text.zfill(len(form)) if re.fullmatch("0+", form) else text


def _moment_parts(
    days: float, parts: list[tuple[str, ...]], times: list[str], *, since_1904: bool
) -> Iterator[str]:
    digits = max((len(part.partition(".")[2]) for part in times), default=0)
    seconds = round(days * 86_400, digits)
    day = (1904, 1, 1) if since_1904 else (1899, 12, 30 + (days < LEAP_BUG))
    moment = datetime(*day, tzinfo=UTC) + timedelta(seconds=seconds)
    is_12 = any(part.startswith("a") for part in times)
    letters = [part.strip("[]")[:1] for part in times if part]
    at = -1
    for (quoted, escaped, _, plain), part in zip(parts, times, strict=True):
        if not part:
            yield quoted or escaped or plain
            continue
        at += 1
        letter, size = letters[at], len(part.strip("[]"))
        is_minute = letter == "m" and (letters[at - 1 : at] == ["h"] or letters[at + 1 : at + 2] == ["s"])
        if part.startswith("["):
            yield f"{int(seconds // {'h': 3600, 'm': 60, 's': 1}[letter]):0{size}}"
        elif letter == "a":
            yield moment.strftime("%p")
        elif letter == "s":
            width = 2 if digits == 0 else 3 + digits
            yield f"{moment.second + moment.microsecond / 1e6:0{width}.{digits}f}"
        elif letter == "h" or is_minute:
            hour = (moment.hour - 1) % 12 + 1 if is_12 else moment.hour
            yield f"{moment.minute if is_minute else hour:0{min(size, 2)}}"
        elif letter == "y":
            yield moment.strftime("%y" if size < 3 else "%Y")
        elif size > 2:
            yield moment.strftime(
                {"m": "%b", "d": "%a"}[letter] if size == 3 else {"m": "%B", "d": "%A"}[letter]
            )
        else:
            yield f"{moment.month if letter == 'm' else moment.day:0{size}}"
