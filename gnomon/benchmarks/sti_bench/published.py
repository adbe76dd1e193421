"""Published: the paper's own tables (Table 2) and the newer one of its repository."""

import json
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published


@cache
def published() -> tuple[Published, ...]:
    """9 rows of the paper, 10 of the repository and chance; as fractions, `aggregate` over all questions."""
    text = files("gnomon.benchmarks.sti_bench").joinpath("published.json").read_text(encoding="utf-8")
    return tuple(Published(**row) for row in json.loads(text)["rows"])
