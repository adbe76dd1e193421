"""What trips add to the API, the pages and `gnomon mcp`."""
