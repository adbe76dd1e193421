"""What trips add to the service."""
