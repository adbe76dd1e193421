"""What worlds add to the workbench."""
