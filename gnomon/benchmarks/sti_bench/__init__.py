"""STI-Bench: how large, how far, how fast and which way, in metres and degrees, from a clip."""

from gnomon.benchmarks.sti_bench.benchmark import sti_bench

__all__ = ["sti_bench"]
