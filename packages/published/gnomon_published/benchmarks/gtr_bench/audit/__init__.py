"""Audits GTR-Bench: its options, its shortcuts and what is wrong with its cases.

`shortcuts.py` tries the shortcuts: of one question (`rules.py`) and between related questions, on what a
reader sees (`shown_question.py`). `option_features.py` measures options for an adversary, `broken_cases.py`
finds broken cases.
"""

from gnomon_published.benchmarks.gtr_bench.audit.broken_cases import case_faults
from gnomon_published.benchmarks.gtr_bench.audit.option_features import option_tables
from gnomon_published.benchmarks.gtr_bench.audit.shortcuts import answer_options, try_shortcuts

__all__ = ["answer_options", "case_faults", "option_tables", "try_shortcuts"]
