"""Scanned rooms: how far, how large, how many, on which side, in view, through the gap, exact from boxes.

Start at `benchmark.py`. `gnomon_rooms/reading.py` reads rooms, `gnomon_rooms/templates.py` and
`gnomon_rooms/drawing.py` make the questions, `scoring.py` scores; `audit.py` is found by the audit.
"""

from gnomon_rooms.benchmarks.rooms.benchmark import rooms

__all__ = ["rooms"]
