"""Answers questions on moving cameras by rules."""

from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_worlds.solver.moving_cameras import answer_motion_question, read_motion_question


def _answer(request: Request) -> str:
    question = read_motion_question(request.messages)
    if question is None:
        raise LookupError("the conversation asks no such question")
    return answer_motion_question(question, request)


motion = Solver(
    name="motion",
    description="Answers questions on moving cameras.",
    reads=lambda messages: read_motion_question(messages) is not None,
    answer=_answer,
)
