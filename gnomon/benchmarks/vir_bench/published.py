"""Published: the repository's two tables, nodes and edges."""

import json
from functools import cache
from importlib.resources import files

from gnomon.core.benchmark import Published


@cache
def published() -> tuple[Published, ...]:
    """13 models, as fractions: `node` and `edge` are the overall F1s, the others their levels.

    There is no aggregate: the authors never put the two subtasks together.
    """
    text = files("gnomon.benchmarks.vir_bench").joinpath("published.json").read_text(encoding="utf-8")
    return tuple(Published(**row) for row in json.loads(text)["rows"])
