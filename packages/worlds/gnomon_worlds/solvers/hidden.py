"""Answers questions on targets that are out of sight by rules."""

from gnomon_agents.models.reference.solver import Solver
from gnomon_worlds.solver.hidden_questions import answer_hidden_question, read_hidden_question

hidden = Solver.of(
    "hidden",
    "Answers questions on targets that are out of sight.",
    read=read_hidden_question,
    answer=answer_hidden_question,
)
