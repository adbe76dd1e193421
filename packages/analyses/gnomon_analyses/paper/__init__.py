"""Charts, tables, methods and citation of a report, as files for a paper."""
