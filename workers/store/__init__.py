"""The store: jobs, trials, leases and results in one database."""
