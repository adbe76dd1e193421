"""What people decide about questions: queues of samples, the review desk, and decisions as files.

`consensus.py` confirms published answers by models, and `decisions.py` queues the doubtful ones for a person.
`rows.py` reads result rows, also for packages that write questions anew.
"""
