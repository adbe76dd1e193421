"""Gazetteer: Japan's prefectures, municipalities, towns and railway stations, embedded.

Start at `search.py`: what a name may mean, what is around a point. `place.py` has the types, `areas.py` the
places by id and name, `spelling.py` the keys, `tables.py` the files in `data/`, `naming.py` the arguments
and results of the tools (docs/gazetteer.md).
"""
