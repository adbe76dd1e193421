"""Audits GTR-Bench: its options, its shortcuts and what is wrong with its cases.

`plays.py` tries the shortcuts: of one question (`rules.py`) and between kin questions, on what a reader
sees (`seen.py`). `case_faults.py` finds broken cases.
"""

from gnomon.benchmarks.gtr_bench.audit.case_faults import case_faults
from gnomon.benchmarks.gtr_bench.audit.plays import asked, plays

__all__ = ["asked", "case_faults", "plays"]
