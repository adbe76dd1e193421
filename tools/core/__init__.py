"""What every tool is made of."""
