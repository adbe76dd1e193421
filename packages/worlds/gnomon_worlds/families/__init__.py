"""Further families of questions on generated worlds, beside GTR-Bench's seven tasks.

`family.py` says what a family is, `family_numbers.py` which sample is which, `sample_making.py` draws one.
The families themselves are in `possible_ways.py` and `permanence.py`, which asks through `out_of_sight.py`.
"""
