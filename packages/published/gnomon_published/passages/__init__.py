"""Where and when targets pass through the views of cameras: what the tools on clips compute."""
