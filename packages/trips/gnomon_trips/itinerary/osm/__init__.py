"""A city out of an OpenStreetMap extract: its places, its opening hours and its streets on foot.

Start at `city.py`, the provider; `extract.py` reads the file, `streets.py` finds ways over its streets.
"""
