"""Audits generated worlds: their questions have GTR-Bench's form, and their true steps are read back.

`shortcuts.py` tries the shortcuts, and counts what rests on edges and stairs. `shown_steps.py` reads the true
steps from words, `steps_rules.py` adds them up, `steps_learner.py` learns from them.
"""

from gnomon_published.benchmarks.gtr_bench.audit import answer_options, case_faults, option_tables
from gnomon_worlds.benchmarks.worlds.audit.shortcuts import level_of, remarks, try_shortcuts

__all__ = ["answer_options", "case_faults", "level_of", "option_tables", "remarks", "try_shortcuts"]
