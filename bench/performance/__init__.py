"""What a trial costs: our worker, a bare aiohttp loop and Inspect AI, on one mock server, in one run."""
