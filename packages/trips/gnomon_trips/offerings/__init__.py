"""What trips add to the workbench."""
