"""EscherVerse: physical dynamics, reference frames and intent in short clips of real life."""

from gnomon.benchmarks.escherverse.benchmark import escherverse

__all__ = ["escherverse"]
