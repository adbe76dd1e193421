"""Audits generated worlds: their questions have GTR-Bench's form."""

from gnomon.benchmarks.gtr_bench.audit import asked, case_faults, plays

__all__ = ["asked", "case_faults", "plays"]
