"""Cameras that move through generated towns: one rides in the traffic, one flies above it.

`travellers.py` says where vehicles and people are, `riding.py` and `flying.py` draw a camera's way, and
`tour.py` holds it: its poses, what it sees, its recording. `drawing.py` draws the question of a number,
`logs.py` writes what instruments tell. `rendering/tour_clip.py` draws the clip.
"""
