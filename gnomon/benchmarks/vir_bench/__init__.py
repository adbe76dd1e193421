"""VIR-Bench: which places of Japan a travel video shows, and in which order they were visited."""

from gnomon.benchmarks.vir_bench.benchmark import vir_bench

__all__ = ["vir_bench"]
