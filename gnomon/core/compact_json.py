"""Writes plain data as compact JSON, fast: messages, replies and traces are written again and again."""

import json

import orjson

_encode = json.JSONEncoder(separators=(",", ":")).encode
# Numbers that are not finite are null, as orjson writes them.
_finite = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_decode = json.JSONDecoder(parse_constant=lambda _: None).decode


def dump(value: object) -> str:
    """Compact ASCII JSON.

    Raises:
        ValueError: a number in it is not finite.
    """
    return _finite(value)


def compact_json(value: object) -> str:
    r"""Compact JSON; a number that is not finite is null, as no JSON can hold it.

    What orjson refuses (whole numbers of more than 64 bits, lone surrogates, keys that are no text, depths
    beyond its own) Python's encoder writes, in ASCII.

    >>> compact_json({"a": [1.5, float("nan"), "é"]}), compact_json([2**70, "\ud800", float("inf")])
    ('{"a":[1.5,null,"é"]}', '[1180591620717411303424,"\\ud800",null]')

    Raises:
        TypeError, ValueError, RecursionError: it is no plain data.
    """
    try:
        return orjson.dumps(
            value, option=orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
        ).decode()
    except TypeError:
        return _encode(_decode(_encode(value)))
