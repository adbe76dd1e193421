"""The nouns of the kernel: sample, arm, message, model, trace, row, score, agent, benchmark, errors.

Nothing above them is imported here. Start with `sample.py` and `row.py`.
"""
