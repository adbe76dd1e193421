"""Corrupts the measurements of a tool's result, as with a wrong scale and a wrong north."""

import json
import re
from collections.abc import Callable
from typing import Any

from gnomon_tools.core.tool import Tool

STRETCH = 1.5
QUARTER_TURN_DEG = 90.0
POWERS = dict.fromkeys(("m", "km", "px", "metres", "minutes", "mps", "mps2"), 1) | {"m2": 2, "px2": 2}
DIRECTIONS = ("bearing_deg", "heading_deg")
LENGTH = re.compile(r"(\d+(?:\.\d+)?)(?= ?(?:m|km|px|m/s)\b)")


def corrupt_measurements(content: str) -> str:
    """The result, JSON text, with every length half as long again and every compass direction a quarter off.

    Fields are known by the units in their names. Speeds, areas and minutes grow with lengths; turns,
    clock times, positions on earth and stated errors stay. So the result is wrong and consistent.

    >>> corrupt_measurements('{"distance_m": 10.0, "bearing_deg": 300.0, "error_m": 1.0}')
    '{"distance_m": 15.0, "bearing_deg": 30.0, "error_m": 1.0}'
    >>> corrupt_measurements('{"words": "12 m, then 90° left, then 3.5 m"}')
    '{"words": "18 m, then 90° left, then 5.2 m"}'
    """
    return json.dumps(_wrong(json.loads(content), ""), ensure_ascii=False, allow_nan=False)


def has_measurements(tool: Tool[Any]) -> bool:
    """Whether a result of the tool holds lengths or compass directions, so that it can be corrupted."""
    return _holds_measures(tool.result_schema())


def _holds_measures(schema: object) -> bool:
    if isinstance(schema, list):
        return any(map(_holds_measures, schema))
    if not isinstance(schema, dict):
        return False
    named = schema.get("properties", {})
    return any(_change(name) for name in named) or any(map(_holds_measures, schema.values()))


def _wrong(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _wrong(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_wrong(item, name) for item in value]
    if isinstance(value, str):
        return LENGTH.sub(stretched_number, value) if name == "words" else value
    change = _change(name)
    if change is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, float):
        return round(change(value), 3)
    return round(change(value)) if value >= 0 else value  # a whole −1 says that there is no route


def stretched_number(match: re.Match[str]) -> str:
    """The number in a match's first group, stretched, with as many decimals."""
    digits = len(match[1].partition(".")[2])
    return f"{STRETCH * float(match[1]):.{digits}f}"


def _change(name: str) -> Callable[[float], float] | None:
    """What happens to the numbers of a field; None where they stay."""
    if "error" in name or name.startswith("frame_"):
        return None
    if name.endswith(DIRECTIONS):
        return lambda degrees: (degrees + QUARTER_TURN_DEG) % 360.0
    power = POWERS.get(name.rpartition("_")[2])
    return None if power is None else lambda value: value * STRETCH**power
