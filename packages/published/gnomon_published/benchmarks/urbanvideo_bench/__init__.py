"""UrbanVideo-Bench: what a drone saw, where it is, and what it should do next.

Start at `benchmark.py`. `loader.py` reads the published files, `prompt.py` asks, `scoring.py` scores;
`audit.py` is found by the audit.
"""

from gnomon_published.benchmarks.urbanvideo_bench.benchmark import urbanvideo_bench

__all__ = ["urbanvideo_bench"]
