"""Visiting-order graphs: what was visited, what lies in what, and what came after what."""
