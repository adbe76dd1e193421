"""Analyses of stored rows and traces; each public module here is one analysis.

Start at `core/kinds.py`, which has the two kinds: labels given by a judge model (`gtr_errors.py`) and figures
computed from rows (`ability_correlation.py`). `core/` is what they share.
"""
