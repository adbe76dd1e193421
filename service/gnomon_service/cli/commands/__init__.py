"""One module per command; the first line of its docstring is its help in `gnomon --help`."""
