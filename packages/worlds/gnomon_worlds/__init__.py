"""Worlds that Gnomon generates: places, cameras, movements and questions with exact truth.

Start at `sample_making.py`, from a sample's number to its world and question. `sample_numbers.py` says what
sample k is; `indoor.py` and `outdoor.py` generate a `world.py` with cameras (`camera_model.py`);
`movement.py` and `trajectory.py` move targets through it; `past_questions.py` and `forecasting.py` ask a
`question.py`, `four_maps.py` a hard one; `rendering/` draws what the cameras see; `generate.py` writes all to
files.
"""
