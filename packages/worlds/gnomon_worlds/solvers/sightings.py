"""Answers questions on sightings of one or two targets by rules."""

from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_worlds.solver.sighting_questions import answer_sighting_question, read_sighting_question


def _answer(request: Request) -> str:
    question = read_sighting_question(request.messages)
    if question is None:
        raise LookupError("the conversation asks no such question")
    return answer_sighting_question(question, request)


sightings = Solver(
    name="sightings",
    description="Answers questions on sightings of one or two targets.",
    reads=lambda messages: read_sighting_question(messages) is not None,
    answer=_answer,
)
