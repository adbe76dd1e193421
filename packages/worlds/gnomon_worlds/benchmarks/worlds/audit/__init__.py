"""Audits generated worlds: their questions have GTR-Bench's form, and their true steps are read back.

`shortcuts.py` tries the shortcuts, and counts what rests on edges and stairs. `shown_steps.py` reads the true
steps from words, `steps_rules.py` adds them up, `step_features.py` measures options by them.
"""

from gnomon_published.benchmarks.gtr_bench.audit import answer_options, case_faults
from gnomon_worlds.benchmarks.worlds.audit.shortcuts import level_of, option_tables, remarks, try_shortcuts

__all__ = ["answer_options", "case_faults", "level_of", "option_tables", "remarks", "try_shortcuts"]
