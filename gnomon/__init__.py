"""The kernel: what is asked, how it is tried and scored, and what follows from the rows.

Start with `core/` (the nouns), `spec/` (how a job is written) and `trials/` (from a planned trial to its
row); `benchmarks/` and `presets/` hold plug-ins, one module or folder each; `statistics/` and `report/` make
verdicts of rows; `media/` keeps pictures and frames.

Four modules serve several of these rooms: `price_table.py` (what a call costs), `tokens.py` (how many tokens
a request has), `whole_file.py` (files that are there whole or not at all) and `stopping.py` (long work that
ends with its caller).
"""
