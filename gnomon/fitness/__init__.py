"""Finds out by real calls what an endpoint can do of what a job asks of it.

Start at `examine.py`, which makes the calls. `needs.py` reads from a spec what is needed, `findings.py`
judges what came, and `table.py` is what it finds.
"""
