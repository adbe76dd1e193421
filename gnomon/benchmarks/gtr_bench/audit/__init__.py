"""Audits GTR-Bench: its options, its shortcuts and what is wrong with its cases.

`shortcuts.py` tries the shortcuts: of one question (`rules.py`) and between related questions, on what a
reader sees (`shown_question.py`). `option_tables.py` measures options for an adversary, `case_faults.py`
finds broken cases.
"""

from gnomon.benchmarks.gtr_bench.audit.case_faults import case_faults
from gnomon.benchmarks.gtr_bench.audit.option_tables import option_tables
from gnomon.benchmarks.gtr_bench.audit.shortcuts import answer_options, try_shortcuts

__all__ = ["answer_options", "case_faults", "option_tables", "try_shortcuts"]
