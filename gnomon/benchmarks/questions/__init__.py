"""Questions of one's own: a file of questions, options, answers, pictures, clips and scenes, without code.

Start at `benchmark.py`. `tables.py` reads files, `rows.py` makes a question of a row, `loader.py` goes over
a file and tells every fault, `pictures.py` finds pictures, `scorers/` has a module for each kind of answer,
`samples.py` asks; `audit.py` is found by the audit.
"""

from gnomon.benchmarks.questions.benchmark import questions

__all__ = ["questions"]
