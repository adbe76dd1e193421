"""Curation: from the rows of finished jobs to question files in a published layout.

`consensus.py` confirms published answers by models and `review.py` queues the doubtful ones for a person;
`export_questions.py` writes the questions that models wrote, `blind_filter.py` drops those answered
blindly. `rows.py` reads the rows for all of them.
"""
