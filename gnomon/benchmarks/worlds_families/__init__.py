"""Worlds, further families: who can have been where, by sightings, a map and a highest speed, exactly.

`benchmark.py` is the plug-in; `gnomon/worlds/families/` generates; `audit.py` is found by the audit.
"""

from gnomon.benchmarks.worlds_families.benchmark import worlds_families

__all__ = ["worlds_families"]
