"""The statistics behind every verdict: functions on NumPy arrays that know no job and no report.

Start at `paired.py`, which compares two arms; `design.py` says how samples are weighted and clustered, and
`estimate.py` what follows from a mean and its error. docs/statistics.md explains the choice of methods.
"""
