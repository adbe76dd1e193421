"""Generated worlds: GTR-Bench's seven tasks in places that no model has seen, with exact truth.

`benchmark.py` is the plug-in; `packages/worlds/gnomon_worlds/` generates.
"""

from gnomon_worlds.benchmarks.worlds.benchmark import worlds

__all__ = ["worlds"]
