"""Stored traces for people to read, in turns (`turns.py`), and cassettes made of them."""
