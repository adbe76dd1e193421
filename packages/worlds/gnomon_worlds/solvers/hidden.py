"""Answers questions on targets that are out of sight by rules."""

from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_worlds.solver.hidden_questions import answer_hidden_question, read_hidden_question


def _answer(request: Request) -> str:
    question = read_hidden_question(request.messages)
    if question is None:
        raise LookupError("the conversation asks no such question")
    return answer_hidden_question(question, request)


hidden = Solver(
    name="hidden",
    description="Answers questions on targets that are out of sight.",
    reads=lambda messages: read_hidden_question(messages) is not None,
    answer=_answer,
)
