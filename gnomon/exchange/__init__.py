"""Runs made elsewhere, read as rows and traces, and rows written for others.

Start with `run.py`: what was read becomes a job of its own. `row_file.py` reads plain rows, `inspect_log.py`
(with `archive.py`) logs of Inspect AI, `answers.py` what people answered; `inspect_write.py` and `chat.py`
write, one module for each form.
"""
