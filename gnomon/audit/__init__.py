"""Audit: what a benchmark's questions give away before anybody reasons about them."""
