"""Benchmarks, one per module or folder; each defines one object of its own name.

Start at gnomon/core/benchmark.py, which says what a benchmark is, and at `sti_bench`, a small one.
docs/benchmarks/README.md lists them, and docs/adding-a-benchmark.md shows how to add one.
"""
