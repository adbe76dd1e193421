"""Reads the tables that papers and repositories published, from `published.json` in a benchmark's folder."""

import json
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published


@cache
def published_rows(package: str) -> tuple[Published, ...]:
    """The rows of a benchmark's package, as fractions; what they hold is written in the file's `source`."""
    text = files(package).joinpath("published.json").read_text(encoding="utf-8")
    return tuple(Published(**row) for row in json.loads(text)["rows"])
