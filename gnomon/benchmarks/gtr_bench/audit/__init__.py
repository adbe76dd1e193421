"""What the audit may know of GTR-Bench: its options, its shortcuts and what is wrong with its cases."""

from gnomon.benchmarks.gtr_bench.audit.case_faults import case_faults
from gnomon.benchmarks.gtr_bench.audit.plays import asked, plays

__all__ = ["asked", "case_faults", "plays"]
