"""The commands: each public module here is one, its first line the help that `gnomon --help` shows."""
