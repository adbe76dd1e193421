"""The planning agent."""
