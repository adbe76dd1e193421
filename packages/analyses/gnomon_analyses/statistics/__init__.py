"""Statistics that analyses of one job need beside those of the report."""
