"""Worlds in motion: how a camera that rides or flies through a generated town moves, and what it sees.

`benchmark.py` is the plug-in; `gnomon_worlds/motion/` generates; `audit.py` is found by the audit.
"""

from gnomon_worlds.benchmarks.worlds_motion.benchmark import worlds_motion

__all__ = ["worlds_motion"]
