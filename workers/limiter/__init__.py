"""The limiter: what a provider key may be asked, counted in Redis for all workers on all machines."""
