"""Reads the tables that papers and repositories published, from `published.json` in a benchmark's folder."""

import json
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published


@cache
def published_rows(package: str) -> tuple[Published, ...]:
    """The rows of a benchmark's package, as fractions; what they hold is written in the file's `source`.

    There are none where the package has no such file.
    """
    file = files(package).joinpath("published.json")
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.is_file() else ()
    return tuple(Published(**row) for row in rows)
