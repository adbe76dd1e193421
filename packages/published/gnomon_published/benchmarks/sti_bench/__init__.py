"""STI-Bench: how large, how far, how fast and which way, in metres and degrees, from a clip.

Start at `benchmark.py`. `loader.py` reads the published files, `prompt.py` asks, `scoring.py` scores;
`audit.py` is found by the audit.
"""

from gnomon_published.benchmarks.sti_bench.benchmark import sti_bench

__all__ = ["sti_bench"]
