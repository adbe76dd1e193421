"""The planning agent's graph and what its nodes do."""
