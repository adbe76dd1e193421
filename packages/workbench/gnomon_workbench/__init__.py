"""Shows which plug-ins there are, and calls tools without a job."""
