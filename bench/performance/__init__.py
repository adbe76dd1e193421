"""Measures what a trial costs in a worker, a bare aiohttp loop and Inspect AI, on one mock server."""
