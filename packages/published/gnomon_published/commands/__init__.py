"""The command `gnomon consensus`."""
