"""Traces of stored jobs as questions to a judge model."""
