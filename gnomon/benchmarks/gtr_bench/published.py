"""Published: the paper's own table (Table 4), with the line for people."""

import json
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published


@cache
def published() -> tuple[Published, ...]:
    """The 13 models and the human line, as fractions; `aggregate` is the mean of the 14 cells."""
    text = files("gnomon.benchmarks.gtr_bench").joinpath("published.json").read_text(encoding="utf-8")
    return tuple(Published(**row) for row in json.loads(text)["rows"])
