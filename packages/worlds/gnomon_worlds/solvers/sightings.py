"""Answers questions on sightings of one or two targets by rules."""

from gnomon_agents.models.reference.solver import Solver
from gnomon_worlds.solver.sighting_questions import answer_sighting_question, read_sighting_question

sightings = Solver.of(
    "sightings",
    "Answers questions on sightings of one or two targets.",
    read=read_sighting_question,
    answer=answer_sighting_question,
)
