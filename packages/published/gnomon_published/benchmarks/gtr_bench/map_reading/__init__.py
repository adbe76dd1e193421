"""Outdoor maps as data: masts, arrows, labels and the scale bar, read off the picture by colour and shape.

Start at `reading.py`, which puts together `arrows.py` (masts and arrows), `labels.py` (camera ids) and
`scale_bar.py`. `reading_store.py` keeps readings.
"""
