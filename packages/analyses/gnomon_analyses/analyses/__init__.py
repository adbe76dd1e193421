"""Analyses of stored rows and traces; each public module here is one analysis.

Start at `gnomon_analyses/kinds.py`, which has the kinds: labels given by a judge model (`gtr_errors.py`), and
figures computed from rows (`ability_correlation.py`) or from one job (`mixed_model.py`).
"""
