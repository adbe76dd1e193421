"""Answers questions on moving cameras by rules."""

from gnomon_agents.models.reference.solver import Solver
from gnomon_worlds.solver.moving_cameras import answer_motion_question, read_motion_question

motion = Solver.of(
    "motion", "Answers questions on moving cameras.", read=read_motion_question, answer=answer_motion_question
)
