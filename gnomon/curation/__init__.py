"""Curation: from the rows of finished jobs to question files in a published layout.

`consensus.py` confirms published answers by models and `review.py` queues the doubtful ones for a person.
`rows.py` reads the rows, also for packages that write questions anew.
"""
