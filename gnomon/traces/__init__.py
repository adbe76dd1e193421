"""Stored traces for people to read: in turns (`turns.py`), and two of them side by side (`alignment.py`)."""
