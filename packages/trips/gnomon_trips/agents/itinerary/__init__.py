"""The planning agent's graph and the work of its nodes; start at graph.py."""
