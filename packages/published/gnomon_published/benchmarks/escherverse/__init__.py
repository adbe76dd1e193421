"""EscherVerse: physical dynamics, reference frames and intent in short clips of real life.

Start at `benchmark.py`. `item.py` reads a question, `loader.py` the file, `prompt.py` asks, `scoring.py`
scores; `audit.py` is found by the audit.
"""

from gnomon_published.benchmarks.escherverse.benchmark import escherverse

__all__ = ["escherverse"]
