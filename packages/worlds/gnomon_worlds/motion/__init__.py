"""Generates cameras that ride in the traffic of generated towns or fly above them, and questions about them.

`travellers.py` says where vehicles and people are, `riding.py` and `flying.py` draw a camera's way, and
`tour.py` holds it: its poses, what it sees, its recording. `sample_making.py` draws the question of a number,
`logs.py` writes what instruments tell. `rendering/tour_clip.py` draws the clip.
"""
