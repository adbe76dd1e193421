"""Revisions: each step from one shape of the tables to the next, and back."""
