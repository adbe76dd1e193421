"""GTR-Bench: where and when was the target, across the cameras of a street or a building."""

from gnomon.benchmarks.gtr_bench.benchmark import gtr_bench

__all__ = ["gtr_bench"]
