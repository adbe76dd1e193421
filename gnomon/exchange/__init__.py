"""Jobs written in the formats of others, and runs made elsewhere read as rows and traces.

Start with `format.py`, in which formats are found by name, and `read_file.py`, which knows what is read: one
module for each format and direction. `job_export.py` is what a writer gets of a job, `imported_job.py` how
what was read becomes a job of its own. `conversation.py` reads a trace for all writers, and says how what a
format cannot hold travels beside it and comes back. `answers.py` reads what people answered.
"""
