"""A posted spec: how it is written, read, checked and frozen. Start with `job_spec.py`."""
