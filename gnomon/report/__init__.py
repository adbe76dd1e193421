"""From a job's rows to its report, in JSON and in every form.

Start at `build.py`: it reads the rows into the matrix of `score_matrix.py`, from which each file in
`sections/` computes its part; `section.py` says what a section is. `html.py`, `markdown.py` and `terminal.py`
lay the sections out, `charts.py` draws, and `verdict.py` judges a comparison.
"""
