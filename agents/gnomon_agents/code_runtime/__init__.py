"""Where the agent `code` runs what the model writes; start at interpreter.py."""
