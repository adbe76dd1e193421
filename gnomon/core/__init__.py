"""The nouns of the kernel: sample, arm, message, model, trace, row, score, agent, benchmark, errors.

Start with `sample.py` (a question), `arm.py` (a condition, and contrasts of two) and `row.py` (a finished
trial). `agent.py` and `benchmark.py` declare what plug-ins offer; `validation.py` is the base of all that is
read from a spec. Every other room imports these; they import little of the others.
"""
