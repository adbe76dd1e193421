"""Pages that analyses add to the service."""
