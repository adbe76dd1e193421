"""A travel sandbox: all that is known of a trip's cities and ways, for the `sandbox_*` tools.

`record.py` holds the sandbox and what a traveller needs, `plan.py` reads days as they are written,
`rules.py` judges them, `scheduler.py` finds the trip that keeps every rule or proves that there is none,
`answers.py` holds what several tools take and return.
"""
