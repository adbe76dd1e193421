"""Lets people decide about questions, in queues of samples at a desk, and keeps what they decide as files.

`consensus.py` confirms published answers by models, and `decisions.py` queues the doubtful ones for a person.
`rows.py` reads result rows, also for packages that write questions anew.
"""
