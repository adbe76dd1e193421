"""Judging: traces of other jobs as questions to a judge model.

All of it is in `benchmark.py`; `gnomon analyse` writes the cases.
"""

from gnomon_analyses.benchmarks.judging.benchmark import judging

__all__ = ["judging"]
