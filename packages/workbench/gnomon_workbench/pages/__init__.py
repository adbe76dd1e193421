"""Pages and routes of the workbench."""
