"""Answers the questions of GTR-Bench and of generated worlds on clips of cameras."""

from gnomon_agents.models.reference.solver import Solver
from gnomon_published.solver.clips.answering import answer_clip_question, is_clip_question

clips = Solver(
    name="clips",
    description="Answers questions on clips of cameras.",
    reads=is_clip_question,
    answer=answer_clip_question,
    answer_seeing=answer_clip_question,
    place=70,
)
