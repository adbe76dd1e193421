"""A workbench: which plug-ins there are, and tools that are called without a job."""
