"""What an agent may call: each public module here is one tool, each sub-package code they share."""
