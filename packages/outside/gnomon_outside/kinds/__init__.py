"""Ways to reach an agent from outside, one a module."""
