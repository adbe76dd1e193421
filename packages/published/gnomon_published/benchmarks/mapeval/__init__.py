"""MapEval: questions about places, and the answers of a map service from which they can be answered.

Start at `benchmark.py`. `loader.py` reads the published file, `map_record/context.py` the evidence of a
question, `prompt.py` asks, `scoring.py` scores; `audit.py` is found by the audit.
"""

from gnomon_published.benchmarks.mapeval.benchmark import mapeval

__all__ = ["mapeval"]
