"""What the workbench adds to the service."""
