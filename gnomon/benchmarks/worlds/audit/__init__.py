"""Audits generated worlds: their questions have GTR-Bench's form."""

from gnomon.benchmarks.gtr_bench.audit import answer_options, case_faults, try_shortcuts

__all__ = ["answer_options", "case_faults", "try_shortcuts"]
