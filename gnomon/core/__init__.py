"""The nouns of the kernel: sample, arm, message, model, trace, row, score, agent, benchmark, errors.

Start with `sample.py` (a question), `arm.py` (a condition, and contrasts of two) and `row.py` (a finished
trial). `agent.py` and `benchmark.py` declare what plug-ins offer; `validation.py` is the base of all that is
read from a spec, `decoding.py` how replies are drawn. Every other room imports these; of other rooms they
import the media store and the wait for a provider alone.
"""
