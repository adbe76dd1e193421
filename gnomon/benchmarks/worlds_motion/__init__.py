"""Worlds in motion: questions of STI-Bench's and UrbanVideo-Bench's kinds about cameras that ride and fly.

`benchmark.py` is the plug-in; `gnomon/worlds/motion/` generates; `audit.py` is found by the audit.
"""

from gnomon.benchmarks.worlds_motion.benchmark import worlds_motion

__all__ = ["worlds_motion"]
