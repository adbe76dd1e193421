"""Worlds, further families: who can have been where, and who is still hidden, by a map and speeds, exactly.

`benchmark.py` is the plug-in; `gnomon_worlds/families/` generates; `audit.py` is found by the audit.
"""

from gnomon_worlds.benchmarks.worlds_families.benchmark import worlds_families

__all__ = ["worlds_families"]
