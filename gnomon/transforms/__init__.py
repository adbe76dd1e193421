"""Exact changes of scenes and texts, of which transformed questions are made."""
