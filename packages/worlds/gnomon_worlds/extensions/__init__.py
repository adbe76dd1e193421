"""What worlds add to the service."""
