"""Reads recordings (boxes and camera poses, frame by frame), and makes questions of what is true of them.

Start at `questions.py`, which writes questions in STI-Bench's layout. `recording.py` reads the file format
(docs/motion.md), `truth.py` computes the quantities.
"""
