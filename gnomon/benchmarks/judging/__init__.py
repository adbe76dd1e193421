"""Judging: traces of other jobs as questions to a judge model."""

from gnomon.benchmarks.judging.benchmark import judging

__all__ = ["judging"]
