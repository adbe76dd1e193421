"""The verifier: what is wrong with a plan, by pure code, each fault with a code and its evidence.

Start at `verify.py`, which runs the checks of `grounding.py` (do the places exist), `space.py` (are the
legs as long), `time.py` (can the clock be kept) and `task.py` (is it what was asked for). `violation.py`
has the codes.
"""
