"""Keeps a job within its limits of dollars and tokens: reserve before the call, settle after it.

Start with `client.py`: one process' share of the limits, asked for from the store. `cost_bound.py` says
what a call may cost at most, `reservations.py` sets aside what samples that have begun may need, `usage.py`
counts what was used, and `model.py` puts all of it around a model.
"""
