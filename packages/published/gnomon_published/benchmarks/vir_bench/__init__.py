"""VIR-Bench: which places of Japan a travel video shows, and in which order they were visited.

Start at `benchmark.py`. `loader.py` reads the published rows, `journey.py` one of them; `prompt.py` asks,
in the words of `english.py` or `japanese.py`; `official.py` and `strict.py` score. `drawing.py` keeps
graphs for `exhibit.py`, which the report finds by name; `audit.py` is found by the audit.
"""

from gnomon_published.benchmarks.vir_bench.benchmark import vir_bench

__all__ = ["vir_bench"]
