"""The command `gnomon generate`."""
