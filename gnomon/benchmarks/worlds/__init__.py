"""Generated worlds: GTR-Bench's seven tasks in places that no model has seen, with exact truth.

`benchmark.py` is the plug-in; `gnomon/worlds/` generates.
"""

from gnomon.benchmarks.worlds.benchmark import worlds

__all__ = ["worlds"]
