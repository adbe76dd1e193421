"""A map record: what a map service answered about a few places, for the `map_*` tools.

`record.py` holds the record, `names.py` finds the place that a name means, `answers.py` holds what several
tools take and return.
"""
