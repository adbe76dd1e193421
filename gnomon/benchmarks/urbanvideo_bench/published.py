"""Published: the paper's own tables (Table 3 and the fine-tuning table)."""

import json
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published


@cache
def published() -> tuple[Published, ...]:
    """17 models, chance and 8 rows of fine-tuning; as fractions, `aggregate` over all questions."""
    text = files("gnomon.benchmarks.urbanvideo_bench").joinpath("published.json").read_text(encoding="utf-8")
    return tuple(Published(**row) for row in json.loads(text)["rows"])
