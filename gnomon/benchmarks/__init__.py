"""The benchmarks: each public module or folder here is one.

A folder `<name>/` re-exports one object of its own name, a `gnomon.core.benchmark.Benchmark`; names have
dashes where folders have underscores. Usual files: `benchmark.py` (the plug-in; start there), `loader.py`
(published files to samples), `prompt.py`, `scoring.py` (released and strict rules), `audit.py` (shortcuts,
found by name), `exhibit.py` (pictures for the report, found by name), `published.json` (the paper's table).
docs/benchmarks/README.md lists them; docs/adding-a-benchmark.md adds one.
"""
