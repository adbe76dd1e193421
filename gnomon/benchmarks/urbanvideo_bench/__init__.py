"""UrbanVideo-Bench: what a drone saw, where it is, and what it should do next."""

from gnomon.benchmarks.urbanvideo_bench.benchmark import urbanvideo_bench

__all__ = ["urbanvideo_bench"]
