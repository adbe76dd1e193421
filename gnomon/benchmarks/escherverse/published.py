"""Published: the paper's own table, with the line for people."""

import json
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published


@cache
def published() -> tuple[Published, ...]:
    """27 models and the human line, as fractions; `aggregate` is the mean over all questions."""
    text = files("gnomon.benchmarks.escherverse").joinpath("published.json").read_text(encoding="utf-8")
    return tuple(Published(**row) for row in json.loads(text)["rows"])
