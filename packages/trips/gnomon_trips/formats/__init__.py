"""The format of planned trips."""
