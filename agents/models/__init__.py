"""The models behind the agents."""
