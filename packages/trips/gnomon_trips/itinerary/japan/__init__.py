"""Japan out of the embedded gazetteer: areas, stations, and an estimate of times by rail.

Start at `provider.py`; `rail.py` estimates how long trains take.
"""
