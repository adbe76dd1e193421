"""Recordings: boxes and camera poses frame by frame, what is true of them, and questions made of that.

Start at `questions.py`, which writes questions in STI-Bench's layout. `recording.py` reads the file format
(docs/motion.md), `truth.py` computes the quantities.
"""
