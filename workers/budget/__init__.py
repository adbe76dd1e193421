"""Budgets: a job's limits on dollars and tokens, reserved before each call and settled after it.

Start with `client.py`; `cost_bound.py` says what a call may cost, `model.py` puts both around a model.
"""
