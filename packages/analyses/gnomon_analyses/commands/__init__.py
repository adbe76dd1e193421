"""The command `gnomon analyse`."""
