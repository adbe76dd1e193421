"""What analyses add to the service."""
