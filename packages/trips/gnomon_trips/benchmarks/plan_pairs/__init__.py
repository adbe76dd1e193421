"""Plan pairs: which of two plans of one request is the better one to travel by, asked in both orders.

`loader.py` reads plans and votes and makes the pairs; `prompt.py` writes the question; `scoring.py` reads the
verdict; `benchmark.py` joins them.
"""

from gnomon_trips.benchmarks.plan_pairs.benchmark import plan_pairs

__all__ = ["plan_pairs"]
