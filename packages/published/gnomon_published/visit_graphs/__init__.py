"""Visiting-order graphs: what was visited, what is in what, and what came after what.

Start at `graph.py`: the graph, built from visits and checked. `compare.py` marks a model's edges against
the gold ones, `draw.py` draws the graph as SVG.
"""
