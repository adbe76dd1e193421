"""GTR-Bench: where and when was the target, across the cameras of a street or a building.

Start at `benchmark.py`. `layout.py` and `loader.py` read the published folder, `case.py` a question,
`scenes.py` and `map_reading/` the places; `prompt.py` asks; `official.py` scores as released, `scoring.py`
strictly. `audit/` holds the shortcuts.
"""

from gnomon_published.benchmarks.gtr_bench.benchmark import gtr_bench

__all__ = ["gtr_bench"]
